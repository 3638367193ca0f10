"""Task folders: everything an agent sees of a session, and nothing it must not."""
