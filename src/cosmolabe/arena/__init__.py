"""Closed loop: an agent improves a world model on a budget; a sealed verifier scores it once."""
