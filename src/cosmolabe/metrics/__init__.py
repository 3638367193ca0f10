"""One measure a file, each with its unit, range and direction."""
