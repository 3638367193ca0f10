"""Errors of code that is not ours: a user's model, a user's file."""


def in_words(error: BaseException) -> str:
    """Type and message; an error of somebody's own may not even be able to say what it is."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
