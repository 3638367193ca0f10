"""Every page can be reached, and what it names is there: headings, commands, options, files."""

import contextlib
import functools
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from cosmolabe.cli import main
from cosmolabe.core import parts

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
INSIDE = sorted(path for path in DOCS.rglob("*.md") if DOCS / "examples" not in path.parents)
PAGES = [*OUTSIDE, *INSIDE]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))

SCRIPTS = ("recipes", "benchmarks", "tests/conformance")
FENCED = re.compile(r"^(```+)[^\n]*\n(.*?)^\1", flags=re.S | re.M)
SPAN = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
OTHERS = {"--help", "--version", "--no-deps", "--select", "--args", "--submit"}
"""Of no verb: everybody's, pip's, Harbor's, bubblewrap's, and a task folder's own run.py's."""


def prose(page):
    return FENCED.sub("", page.read_text())


def anchor(heading):
    """A heading as it is linked to: GitHub's rule."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@functools.cache
def anchors(page):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", prose(page), flags=re.M)}


def links(page):
    """(as written, where to, anchor) of each relative link and picture."""
    text = SPAN.sub("", prose(page))
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text):
        if not re.match(r"[a-z]+:", link):
            path, _, part = link.partition("#")
            yield link, (page.parent / path).resolve() if path else page, part


@each_page
def test_every_link_leads_somewhere(page):
    for link, target, part in links(page):
        assert target.exists(), f"{link} leads nowhere"
        assert ROOT in target.parents, f"{link} leads out of the repository"
        assert not part or part in anchors(target), f"{link}: no such heading"


def test_the_index_leads_to_every_page():
    linked = {target for _, target, _ in links(DOCS / "index.md")}
    assert [str(page) for page in INSIDE if page not in linked and page.name != "index.md"] == []


def test_the_readme_leads_to_the_index_and_to_how_one_contributes():
    linked = {target for _, target, _ in links(ROOT / "README.md")}
    assert {DOCS / "index.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"} <= linked


def command_lines(page):
    """Whole commands: lines of blocks, fenced or indented, that begin with `cosmolabe`."""
    for line in page.read_text().replace("\\\n", " ").splitlines():
        if re.match(r"(\$ )?cosmolabe (?!--help)", line.strip()):
            yield shlex.split(line.strip().removeprefix("$ "), comments=True)[1:]


def mentions(page):
    """Commands within a sentence, whole or in part."""
    for span in SPAN.findall(prose(page)):
        program, *words = span.split() or [""]
        if program == "cosmolabe" and words and words[0] not in ("VERB", "--help"):
            yield words


@functools.cache
def helped(*words):
    """(subcommands, options) of a verb, from its help."""
    with contextlib.redirect_stdout(io.StringIO()) as said, pytest.raises(SystemExit):
        main.run([*words, "--help"])
    text = said.getvalue()
    choices = re.match(r"usage: [\w -]+\s\[-h\]\s+\{(.*?)\}", text, flags=re.S)
    options = re.findall(r"^[ │|]+(?:-\w(?: [^ ]+)?, )?(--[a-z][\w-]*)", text, flags=re.M)
    return re.split(r",\s*", choices[1]) if choices else [], set(options)


def verb_of(words):
    """The verb that a command names, one word or two; refuses what is none."""
    verb, rest = words[0], words[1:]
    assert verb in main.verbs(), f"no verb {verb}"
    below, _ = helped(verb)
    if below and rest and not rest[0].isupper() and rest[0] != "…":
        assert rest[0] in below, f"no {verb} {rest[0]}"
        return verb, rest[0]
    if rest and rest[0] in getattr(main._module(verb), "WORDS", {}):
        return verb, rest[0]
    return (verb,)


def options_in(script):
    """The options of a script: words in quotes, and tyro's, which are parameters and fields."""
    text = script.read_text()
    fields = re.findall(r"^    (\w+): ", text, flags=re.M)
    return {*re.findall(r'"(--[a-z][\w-]*)"', text), *(f"--{f.replace('_', '-')}" for f in fields)}


@functools.cache
def options_of_all():
    """Every option of the command line and of the scripts beside it."""
    below = {
        verb: [*helped(verb)[0], *getattr(main._module(verb), "WORDS", {})] for verb in main.verbs()
    }
    verbs = [
        (verb, *word) for verb, words in below.items() for word in [(), *((w,) for w in words)]
    ]
    scripts = [path for folder in SCRIPTS for path in (ROOT / folder).rglob("*.py")]
    return OTHERS.union(*(helped(*verb)[1] for verb in verbs), *map(options_in, scripts))


@each_page
def test_every_command_parses(page):
    for words in command_lines(page):
        verb_of(words)
        assert isinstance(main._parse(words[0], words[1:]), main.Verb), words


@each_page
def test_every_command_in_a_sentence_names_verbs_and_options_there_are(page):
    for words in mentions(page):
        options = set(OPTION.findall(" ".join(words)))
        assert options <= helped(*verb_of(words))[1] | {"--help"}, words


@each_page
def test_every_option_in_a_sentence_is_somebodys(page):
    named = {option for span in SPAN.findall(prose(page)) for option in OPTION.findall(span)}
    assert named - options_of_all() == set()


@each_page
def test_every_script_target_and_extra_is_there(page):
    text = page.read_text()
    for script, rest in re.findall(r"python ((?:recipes|tests)/\S+?\.py)([^`\n]*)", text):
        assert (ROOT / script).is_file(), script
        assert set(OPTION.findall(rest.split("#")[0])) <= options_in(ROOT / script), script
    for target in re.findall(r"`make ([\w-]+)", text):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.M), target
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for named in re.findall(r"cosmolabe\[([\w,-]+)\]", text):
        assert set(named.split(",")) <= set(extras), named


@each_page
def test_every_file_of_ours_that_a_page_names_is_there(page):
    """Paths from the root, and those that begin with a floor of the package."""
    floors = {path.name for path in (ROOT / "src" / "cosmolabe").iterdir() if path.is_dir()}
    tops = {"src", "tests", "docs", "recipes", "benchmarks", "dev"}
    imagined = ("tetris", "GAME", "NAME")
    for path in re.findall(
        r"`([\w.-]+/[\w./-]+\.(?:py|json|md|js|css|html|safetensors))`", page.read_text()
    ):
        top, named = path.split("/")[0], not any(word in path for word in imagined)
        if named and top in tops:
            assert (ROOT / path).exists(), path
        elif named and top in floors:
            assert (ROOT / "src" / "cosmolabe" / path).exists() or (DOCS / path).exists(), path


def test_the_readme_shows_every_floor_and_the_parts_it_lists():
    tree = re.search(
        r"^src/cosmolabe/\n(.*?)^tests/", (ROOT / "README.md").read_text(), re.S | re.M
    )
    rows = dict(re.findall(r"^  (\w+)/ +((?:.|\n    )*)$", tree[1], flags=re.M))
    package = ROOT / "src" / "cosmolabe"
    assert set(rows) == {p.name for p in package.iterdir() if (p / "__init__.py").is_file()}
    for attribute in parts.ATTRIBUTES.values():
        assert f"`{attribute}`" in (ROOT / "README.md").read_text(), attribute
    for kind in ("games", "encoders", "vlms", "models", "judges"):
        assert set(parts.names(kind)) <= set(rows[kind].split(": ")[1].split()), kind


def test_the_page_of_the_command_line_names_every_verb_of_two_words():
    text = " ".join((DOCS / "cli.md").read_text().split())
    below = [f"{verb} {word}" for verb in main.verbs() for word in helped(verb)[0]]
    below += [f"{v} {word}" for v in main.verbs() for word in getattr(main._module(v), "WORDS", {})]
    assert [words for words in below if not re.search(rf"\b{words}\b", text)] == []
