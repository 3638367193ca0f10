"""Judges turn rollouts into readings."""
