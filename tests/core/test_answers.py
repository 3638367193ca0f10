"""Replies are read by rules, and every public misreading our code could repeat is here by name."""

import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cosmolabe.core.answers import FINGERPRINT, AnswerSpace, canonical, letter, not_answered, parse
from cosmolabe.core.question import Question

TEN = (
    "jumping", "evading right", "evading", "idle", "falling",
    "climbing", "turning back", "standing still", "shooting", "attacking",
)  # fmt: skip
CHOICE = AnswerSpace("multiple_choice", options=TEN)
OPEN = AnswerSpace("open_ended", labels=TEN)
BINARY = AnswerSpace("binary")
WRAPS = ("{}", " {}. ", "**{}**", '"{}"', "“{}”", "`{}`", "- {}", "> {}", "({})", "_{}_", "# {}\n")
words = st.text(st.characters(codec="utf-8"), max_size=12)
labels = st.lists(
    st.text("abcdxyz ABC-éß'", min_size=3, max_size=9).filter(lambda s: len(canonical(s)) > 2),
    min_size=2,
    max_size=6,
    unique_by=canonical,
)


def label_of(reply, space):
    found = parse(reply, space)
    assert (found.label is not None) == (found.status == "ok")
    return found.label


@given(text=words)
def test_the_canonical_form_of_a_canonical_form_is_itself(text):
    assert canonical(canonical(text)) == canonical(text)


@given(text=words)
def test_the_same_text_composed_or_decomposed_reads_alike(text):
    for form in ("NFC", "NFD", "NFKC"):
        assert canonical(unicodedata.normalize(form, text)) == canonical(text)


@given(text=words, spaces=st.text(" \t\n\u00a0\u3000", min_size=1, max_size=3))
def test_space_around_and_between_words_is_one_space(text, spaces):
    assert canonical(spaces + text + spaces) == canonical(text)
    assert canonical(f"go{spaces}left") == "go left"


@pytest.mark.parametrize("article", ["A", "an", "The", "a cat", "the end"])
def test_an_article_is_never_taken_away(article):
    assert canonical(f"**{article}**.") == article.casefold()


def test_a_minus_before_a_number_is_no_punctuation():
    assert canonical("(-3)") == "-3"
    assert canonical("- left") == "left"


def test_letters_go_from_a_to_z_and_then_double():
    assert [letter(n) for n in (0, 25, 26, 27, 51, 52, 701, 702)] == [
        "A", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip
    many = AnswerSpace("multiple_choice", options=tuple(f"thing number {n}" for n in range(60)))
    assert label_of("AB", many) == "thing number 27"
    with pytest.raises(ValueError, match="counted from 0"):
        letter(-1)


@given(names=labels, wrap=st.sampled_from(WRAPS), loud=st.sampled_from([str, str.upper, str.title]))
def test_any_label_in_any_casing_quotes_or_markdown_is_read_as_itself(names, wrap, loud):
    try:
        spaces = [
            AnswerSpace("open_ended", labels=tuple(names)),
            AnswerSpace("multiple_choice", options=tuple(names)),
        ]
    except ValueError:
        assume(False)
    for space in spaces:
        for name in names:
            said = wrap.format(loud(name))
            assume(canonical(loud(name)) == canonical(name))
            assert label_of(said, space) == name


@given(n=st.integers(0, 9), wrap=st.sampled_from(WRAPS), low=st.booleans())
def test_every_letter_from_a_to_j_is_read_however_it_is_written(n, wrap, low):
    """jundot/omlx #3668: upper case against lower case, and I taken as a pronoun."""
    said = letter(n).lower() if low else letter(n)
    for shape in ("{}", "{}.", "{})", "({})", "( {} )", "Option {}", "Answer: {}", "answer is {}."):
        assert label_of(wrap.format(shape.format(said)), CHOICE) == TEN[n]


@given(reply=st.text("ABab ().:*\nyesno", max_size=14))
def test_no_reply_is_beyond_reading(reply):
    for space in (CHOICE, OPEN, BINARY):
        found = parse(reply, space)
        assert found.label in (None, *space.labels)
        assert found.rule


@given(names=labels)
def test_labels_that_read_alike_are_refused_by_name(names):
    with pytest.raises(ValueError, match="read alike") as told:
        AnswerSpace("open_ended", labels=(*names, f"**{names[0]}** "))
    assert repr(names[0]) in str(told.value)


def test_an_option_that_reads_like_the_letter_of_another_is_refused():
    with pytest.raises(ValueError, match="letter of option 'A'"):
        AnswerSpace("multiple_choice", options=("B", "A"))
    assert label_of("B", AnswerSpace("multiple_choice", options=("A", "B"))) == "B"


@pytest.mark.parametrize(
    ("space", "says"),
    [
        ({"format": "multiple_choice"}, "needs the options"),
        ({"format": "open_ended"}, "needs the labels"),
        ({"format": "open_ended", "labels": ("left", "...")}, "nothing but punctuation"),
        ({"format": "binary", "labels": ("left", "right")}, "yes or no"),
        ({"format": "open_ended", "labels": ("a b",), "aliases": {"x": "c"}}, "none of"),
        ({"format": "multiple_choice", "labels": ("up",), "options": ("down",)}, "no labels"),
    ],
)
def test_a_question_nobody_could_answer_is_refused(space, says):
    with pytest.raises(ValueError, match=says):
        AnswerSpace(**space)


MISREAD_CHOICES = {
    "lmms-eval 1434: first capital of The": ("The character does something.", None),
    "lmms-eval 1434: first capital of Based": ("Based on the frames, it moves.", None),
    "lmms-eval 1434: the last declaration counts": (
        "At first the answer is A. Looking again, the answer is C.",
        "evading",
    ),
    "inspect_ai 2216: a letter outside the choices": ("Answer: Q", None),
    "OPD-V 2: markdown around the letter": ("Answer: **D**", "idle"),
    "UltraRAG 509: an article is not stripped": ("A", "jumping"),
    "omlx 3668: I is a pronoun": ("I think so.", None),
    "omlx 3668: I is a letter": ("The answer is I.", "shooting"),
    "sglang 23864: an answer on a later line": ("Let me look.\nIt goes up.\n\nAnswer: B", TEN[1]),
    "sglang 23864: cue and answer on two lines": ("The final answer is:\n\n**B**", TEN[1]),
    "simple-evals 33: Antwort is not A": ("Antwort: C", "evading"),
    "simple-evals 33: no letter inside a word": ("Answer: Definitely unclear", None),
    "lm-eval 3880: spaces in brackets": ("( B )", "evading right"),
    "deepeval 3096: wide and circled letters": ("Ⓑ", "evading right"),
    "adk 6072: a hard space and typographic quotes": ("“evading\u00a0right”", "evading right"),
    "tool-eval-bench 133: a bullet before the answer": ("• evading right", "evading right"),
    "VLMEvalKit 1552 too loose: two options named": ("Either jumping or falling.", None),
    "VLMEvalKit 1552 too loose: two options declared": ("The answer is A or B", None),
    "VLMEvalKit 1552 too strict: one option named": ("The hero is climbing here.", "climbing"),
    "VLMEvalKit 1552 too loose: an option denied": ("The hero is not climbing.", None),
    "VLMEvalKit 1175: letter and text disagree": ("B) jumping", None),
    "WBench: cut before the answer": ("<think>The hero goes right, so B", None),
    "strands 2486: a shorter name inside a longer one": ("It is evading right now", TEN[1]),
    "a word and a letter": ("A B", None),
    "a man jumps": ("A man jumps", None),
    "a man is declared": ("The answer is A man on a wall", None),
    "options repeated before the answer": ("A) jumping\nB) evading right\n\nAnswer: B", TEN[1]),
    "options repeated and nothing said": ("A) jumping\nB) evading right\nC) evading", None),
    "what it is not": ("The answer is not B.", None),
    "letter and reason": ("B. Because it moves to the right.", "evading right"),
    "letter, reason, another declaration": ("A) is tempting, but the answer is B", TEN[1]),
    "boxed": ("so \\boxed{\\text{B}}", "evading right"),
    "tagged": ("<answer>idle</answer>", "idle"),
    "JSON": ('{"reason": "it rests", "answer": "D"}', "idle"),
    "thoughts that name options": ("<think>A? No, B.</think>\nD<|im_end|>", "idle"),
    "a correct one": ("Option C is correct.", "evading"),
}


@pytest.mark.parametrize("name", MISREAD_CHOICES)
def test_a_choice_is_read_where_others_misread(name):
    reply, label = MISREAD_CHOICES[name]
    found = parse(reply, CHOICE)
    assert (found.label, found.status) == (label, "ok" if label else "unparsed")


MISREAD_BINARY = {
    "WorldModelBench: not": ("Not really visible", None),
    "WorldModelBench: know": ("We know the rules", None),
    "WorldModelBench: noticeable": ("A noticeable jump", None),
    "WorldModelBench: another": ("Another character", None),
    "WorldModelBench: no somewhere in a chain of thought": ("There is no wall. So it moves.", None),
    "WorldModelBench: a chain of thought, then yes": ("There is no wall.\nAnswer: yes", "yes"),
    "VBench-2.0: eyes": ("The eyes are open", None),
    "VBench-2.0: yesterday": ("yesterday", None),
    "WBench: nothing declared": ("The character turns around and", None),
    "WBench: n/a": ("N/A", None),
    "yes behind markdown": ("**Yes**, it does", "yes"),
    "yes with no in its reason": ("Yes, there is no wall in the way", "yes"),
    "no with yes in its reason": ("No. A yes would need a wall.", "no"),
    "no-one": ("no-one is there", None),
    "no doubt": ("No doubt it jumps", None),
    "both": ("yes or no", None),
    "yes/no": ("Yes/No", None),
    "yes and no": ("Yes and no.", None),
    "yes, then no": ("Yes. No.", None),
    "taken back": ("No.\nOn second thoughts, the answer is yes.", None),
    "declared": ("I looked twice; the answer is **no**.", "no"),
    "a line of its own": ("It goes to the left.\n\nNo.", "no"),
    "repeated question": ("Is it evading? Answer yes or no: yes", "yes"),
    "capitals and a stop": ("YES.", "yes"),
    "nope": ("Nope!", "no"),
    "German": ("Nein", "no"),
}


@pytest.mark.parametrize("name", MISREAD_BINARY)
def test_yes_or_no_is_read_where_others_misread(name):
    reply, label = MISREAD_BINARY[name]
    space = AnswerSpace("binary", question="Is it evading? Answer yes or no:")
    found = parse(reply, space)
    assert (found.label, found.status) == (label, "ok" if label else "unparsed")


@pytest.mark.parametrize(
    "reply",
    ['{"yes": 0.1, "no": 0.9}', '{"no": false, "yes": true}', "yes: 80 %, no: 20 %", "no yes"],
)
def test_yes_and_no_weighed_or_said_in_one_breath_is_neither(reply):
    assert parse(reply, BINARY).rule == "several"


@pytest.mark.parametrize("reply", ["Yes no doubt", "Yes, no question", "Yes: 2 frames show it"])
def test_what_follows_a_yes_need_not_take_it_back(reply):
    assert label_of(reply, BINARY) == "yes"


NUMBERED = AnswerSpace("open_ended", labels=("1", "2", "3"))


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("-2", None), ("It is (-2)", None), ("- 2", "2"), ("2", "2"), ("about 2 bricks", "2"),
        ("1-2", None), ("-2 to 3", "3"),
    ],
)  # fmt: skip
def test_a_number_below_zero_is_not_the_number_behind_its_sign(reply, label):
    assert label_of(reply, NUMBERED) == label


def test_a_word_behind_a_hyphen_is_part_of_another():
    assert parse("It is non-evading", OPEN).status == "unparsed"
    assert label_of("- evading", OPEN) == "evading"
    assert label_of("-evading", OPEN) == "evading"


@pytest.mark.parametrize("reply", ['{"answer": ["A", "B"]}', "The answer is (A, B)", "A. Wait, B."])
def test_two_options_in_brackets_or_the_second_at_the_end_are_no_choice(reply):
    assert parse(reply, CHOICE).status == "unparsed"


@given(word=st.sampled_from(["yes", "no"]), before=st.text("kenobwyhlt", min_size=1, max_size=3))
def test_a_word_that_holds_yes_or_no_says_neither(word, before):
    for said in (before + word, word + before):
        if canonical(said) not in BINARY.by_name:
            assert parse(f"It is {said} here", BINARY).status == "unparsed"
            assert parse(f"{said} it is", BINARY).status == "unparsed"


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot determine this from the frames.",
        "As an AI, I have no eyes.",
        "I don't know whether it is jumping",
        "No images were provided.",
        "It is impossible to tell.",
    ],
)
def test_declining_is_a_status_of_its_own(reply):
    for space in (CHOICE, OPEN, BINARY):
        assert parse(reply, space).status == "refused"


@pytest.mark.parametrize("reply", ["", "  \n", "...", "**", "<think>yes</think>", "</s>"])
def test_nothing_said_is_empty_and_not_wrongly_a_label(reply):
    for space in (CHOICE, OPEN, BINARY):
        assert parse(reply, space).status == "empty"


def test_an_open_question_has_no_letters():
    assert parse("A", OPEN).status == "unparsed"
    assert label_of("The answer is evading.", OPEN) == "evading"
    assert parse("jumping, then falling", OPEN).rule == "several"


def test_other_names_are_read_and_told_apart_from_the_label_itself():
    space = AnswerSpace("open_ended", labels=TEN, aliases={"hopping": "jumping"})
    assert parse("Hopping!", space) == parse("jumping", space).__class__("ok", "jumping", "alias")
    with pytest.raises(ValueError, match="read alike"):
        AnswerSpace("open_ended", labels=TEN, aliases={"IDLE": "jumping"})


def test_small_numbers_are_read_in_words_and_digits_but_not_inside_others():
    space = AnswerSpace("open_ended", labels=("1", "2", "3"))
    assert label_of("two", space) == "2"
    assert label_of("There are 3 bricks", space) == "3"
    for reply in ("13", "3.5 bricks", "0.3", "1 or 2"):
        assert parse(reply, space).status == "unparsed"


def test_a_question_is_read_by_its_own_options():
    question = Question(
        "q", "c", "action_recognition", "multiple_choice", "What happens?", "left",
        ("right", "left"), ("left", "right"),
    )  # fmt: skip
    assert label_of("A", question) == "left"
    assert label_of("What happens?\nB", question) == "right"


def test_what_was_never_answered_is_told_by_its_own_status():
    assert not_answered("missing_video").label is None
    with pytest.raises(ValueError, match="error or missing_video"):
        not_answered("ok")
    assert len(FINGERPRINT) == 16


@pytest.mark.parametrize(
    "reply",
    [
        "</think>" + "<think>" * 20_000,
        "<think>x</think>" * 20_000,
        "a" + "\u0301\u0323" * 20_000,
        "Is it jumping?" + "\n" * 20_000,
        "\n" * 20_000 + "Is it jumping? x",
        "answer is jumping, " * 2_000,
        "jumping is correct " * 2_000,
        "jumping " * 5_000,
    ],
    ids=lambda reply: reply[:12],
)
def test_a_long_reply_takes_no_longer_than_its_length(reply):
    space = AnswerSpace("open_ended", TEN, question="Is it\njumping?")
    before = time.process_time()
    parse(reply, space)
    assert time.process_time() - before < 4  # seconds; the square of the length takes minutes


def test_a_hundred_thousand_options_are_read_as_ten_are():
    options = tuple(f"option {number}" for number in range(100_000))
    space = AnswerSpace("multiple_choice", options=options)
    assert label_of("I see it. The answer is option 77777.", space) == "option 77777"
    assert label_of("Well, option 77 is correct", space) == "option 77"


def test_a_reply_longer_than_any_answer_is_not_read():
    found = parse("left " * 300_000, AnswerSpace("open_ended", ("left", "right")))
    assert (found.status, found.rule) == ("unparsed", "too_long")
    thought = f"<think>{'left ' * 300_000}</think>right"
    assert label_of(thought, AnswerSpace("open_ended", ("left", "right"))) == "right"


def test_what_is_correct_is_the_longest_name_before_it():
    space = AnswerSpace("open_ended", ("right", "evading right", "3"))
    assert label_of("I think evading right is correct", space) == "evading right"
    assert label_of("0.3 is correct", space) is None


def test_an_end_of_thought_without_a_beginning_ends_one():
    assert label_of(
        "it may be left</think>right", AnswerSpace("open_ended", ("left", "right"))
    ) == ("right")
