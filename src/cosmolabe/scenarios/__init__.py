"""Scenarios, one file a game; each offers `SCENARIOS`."""
