"""Questions about clips, for the vqa judge: clips are cut, described, and asked about.

    clips = game_clips("pong", 200, seed=1, held_out=False)
    questions = questions_of(clips, seed=1)

docs/judges/vqa-questions.md tells it whole.
"""

from cosmolabe.data.questions.building import counts_of, questions_of
from cosmolabe.data.questions.folder import read_clips, read_questions, write_questions
from cosmolabe.data.questions.mixing import PAPER, Mix, mixture, sample_mix
from cosmolabe.data.questions.playing import Play, game_clips
from cosmolabe.data.questions.protocol import (
    PROTOCOLS,
    SAMPLERS,
    ClipProtocol,
    first,
    protocol_named,
    uniform,
)
from cosmolabe.data.questions.wording import templates_hash

__all__ = [
    "PAPER",
    "PROTOCOLS",
    "SAMPLERS",
    "ClipProtocol",
    "Mix",
    "Play",
    "counts_of",
    "first",
    "game_clips",
    "mixture",
    "protocol_named",
    "questions_of",
    "read_clips",
    "read_questions",
    "sample_mix",
    "templates_hash",
    "uniform",
    "write_questions",
]
