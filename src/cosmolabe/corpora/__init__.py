"""Outside labelled video sets, one a file."""
