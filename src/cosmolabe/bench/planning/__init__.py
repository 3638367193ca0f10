"""Plans made inside a world model, and players trained inside it, played in the true game."""
