"""The worlds: one file each, whose name is the game's name."""
