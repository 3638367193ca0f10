"""How a starter is trained and loaded in a session: the last part of a generated train.py."""
