"""Torch code that parts share."""
