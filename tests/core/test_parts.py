import pytest

from cosmolabe.core import parts


def test_a_file_s_name_is_the_part_s_name():
    assert "pong" in parts.names("games")
    assert parts.load("games", "pong").name == "pong"


def test_an_unknown_part_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"no game named 'pang'; have \[.*'pong'"):
        parts.load("games", "pang")


@pytest.mark.parametrize("kind", sorted(parts.ATTRIBUTES))
def test_every_kind_of_part_has_parts_that_load(kind):
    assert all(parts.load(kind, name) is not None for name in parts.names(kind))
    assert parts.names(kind)


def test_an_unknown_kind_is_refused_with_the_kinds_there_are():
    with pytest.raises(ValueError, match=r"no kind of part 'toys'; have \['agents', 'corpora'"):
        parts.names("toys")


def test_a_part_from_another_package_is_found_by_entry_point(monkeypatch):
    class Point:
        name = "tetris"

        @staticmethod
        def load():
            return "their game"

    monkeypatch.setattr(parts, "_entry_points", lambda kind: [Point])
    parts.names.cache_clear()
    try:
        assert parts.names("games")[-1] == "tetris"
        assert parts.load("games", "tetris") == "their game"
    finally:
        parts.names.cache_clear()
