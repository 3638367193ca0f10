"""Making, measuring and studying the vqa judge."""
