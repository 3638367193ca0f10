"""What sessions teach: which edits were made, what they gained, and how sure that is."""
