"""Frozen eyes, one a file: pictures in, features out."""
