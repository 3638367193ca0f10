"""Tiny hostile submissions, one a threat: what each does, and what must become of it."""
