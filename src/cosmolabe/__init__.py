"""Cosmolabe: the measuring instrument for world models and video generators."""
