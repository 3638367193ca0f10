"""A harness that is killed, wherever that is, loses no line and gets no time back."""

from arena.killing import kill_at


def test_a_harness_killed_at_any_point_goes_on_as_if_it_had_not_been(new):
    kill_at(lambda: new("linear", all_steps=1000, steps=4), points=3, runs=2, seed=0)
