"""Code of a user's own that a grid runs: a made-up cell of pixels, and one that breaks."""

from arena.made_sessions import Made, make_session, verdict


def pixels(folder, job):
    assert not folder.exists()
    score = 0.5 + 0.01 * job["seed"]
    make_session(
        folder, [Made(score), Made(score + 0.1)], game=job["game"], model=job["model"],
        agent=job["agent"], seed=job["seed"], verified=verdict(score + 0.1), start=verdict(score),
    )  # fmt: skip


def sometimes(folder, job):
    """Breaks unless a file says that it was mended."""
    if not (folder.parent / "mended").exists() and job["seed"] == 1:
        raise ValueError("the pixels ran out")
    pixels(folder, job)
