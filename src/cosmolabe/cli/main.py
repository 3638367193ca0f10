"""`cosmolabe VERB ...`: finds the verb's file by its name, parses, runs, answers.

Exit codes: 0 done, 1 a check failed, 2 bad input, 130 stopped by Ctrl-C.
"""

import contextlib
import difflib
import errno
import importlib
import io
import json
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from cosmolabe import cli
from cosmolabe.cli._verb import Answer, Verb, tame

DONE, FAILED, BAD_INPUT, STOPPED = 0, 1, 2, 130
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
EXTRAS = {
    "torch": "torch",
    "safetensors": "torch",
    "av": "video",
    "altair": "report",
    "vl_convert": "report",
    "pygame": "play",
    "datasets": "datasets",
    "zarr": "zarr",
    "minari": "minari",
    "ray": "ray",
    "optuna": "arena",
}
"""Which extra brings a missing library."""


CALM = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Where the user says nothing: one thread, and none that waits by spinning. On a busy machine two
spinning threads train a small network ten times as slowly as one."""


def main() -> None:
    """The console script."""
    for name, value in CALM.items():
        os.environ.setdefault(name, value)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may know ASCII alone
    try:
        code = run(sys.argv[1:])
    except SystemExit as stop:  # help was shown
        code = stop.code
    sys.exit(_said(lambda: None, code if isinstance(code, int) else DONE))


def verbs() -> list[str]:
    """All verbs, by file name; a trailing underscore only keeps Python's own words free."""
    found = (module.name for module in pkgutil.iter_modules(cli.__path__))
    return sorted(name.rstrip("_") for name in found if name[0] != "_" and name != "main")


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _said(lambda: print(overview()), DONE)
    if arguments[0] == "--version":
        from importlib import metadata

        print(metadata.version("cosmolabe"))
        return DONE
    name, rest = arguments[0], list(arguments[1:])
    machine, debug = "--json" in rest, "--debug" in rest
    if name not in verbs():
        close = difflib.get_close_matches(name, verbs(), 1)
        hint = f"did you mean '{close[0]}'?" if close else f"have {', '.join(verbs())}"
        return _refuse(f"no verb '{name}'; {hint}", machine)
    verb: Verb | None = None
    try:
        verb = _parse(name, rest)
        # A library, or a user's own model, may print: only the answer goes to stdout.
        with contextlib.redirect_stdout(sys.stderr) if machine else contextlib.nullcontext():
            answer = _answered(verb)
    except KeyboardInterrupt:
        advice = verb.stopped if verb else Verb.stopped
        return _refuse(f"stopped; {advice}", machine, STOPPED)
    except _Usage as error:
        return _refuse(f"{error}\nsee `cosmolabe {name} --help`", machine)
    except Exception as error:
        if debug:
            raise
        return _refuse(_in_words(error), machine)
    return _said(lambda: _say(answer, machine), DONE if answer.ok else FAILED)


def overview() -> str:
    """The verbs with one line each."""
    lines = [
        "usage: cosmolabe VERB [options]",
        "",
        "Takes the measure of world models.",
        "",
        *(f"  {name:<10}{_summary(name)}" for name in verbs()),
        "",
        "Every verb has --help, --json (one JSON object on stdout) and --debug (tracebacks).",
        "Exit code: 0 done, 1 a check failed, 2 bad input.",
    ]
    return "\n".join(lines)


def _answered(verb: Verb) -> Answer:
    """What a verb answers; where something in it calls exit(), that is no success."""
    try:
        return verb.run()
    except SystemExit as stop:
        raise ValueError(f"stopped halfway: something called exit({stop.code or 0})") from stop


class _Usage(Exception):
    """A command line that does not fit its verb."""


def _module(name: str) -> Any:  # noqa: ANN401 - a module
    known = {module.name.rstrip("_"): module.name for module in pkgutil.iter_modules(cli.__path__)}
    return importlib.import_module(f"cosmolabe.cli.{known[name]}")


def _summary(name: str) -> str:
    return (_module(name).__doc__ or "").strip().splitlines()[0]


def _parse(name: str, arguments: list[str]) -> Verb:
    import tyro

    module, complaint = _module(name), io.StringIO()
    verb, words = module.VERB, getattr(module, "WORDS", {})
    if arguments and arguments[0] in words:  # `damage twins`; a folder of that name is ./twins
        verb, name, arguments = words[arguments[0]], f"{name} {arguments[0]}", arguments[1:]
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(
                verb,
                prog=f"cosmolabe {name}",
                args=arguments,
                config=(
                    tyro.conf.HelptextFromCommentsOff,
                    tyro.conf.PositionalMetavarFromFieldName,
                    tyro.conf.CascadeSubcommandArgs,
                    tyro.conf.OmitArgPrefixes,
                ),
            )
    except SystemExit as error:
        if error.code in (0, None):
            raise
        raise _Usage(_condensed(complaint.getvalue())) from None
    except BrokenPipeError:  # the reader of the help went away
        _hush()
        raise SystemExit(DONE) from None


def _condensed(box: str) -> str:
    """The gist of a boxed complaint, on one line."""
    lines = [line.strip("│╭╰╮╯─ ") for line in box.splitlines()]
    text = " ".join(line for line in lines if line)
    text = re.sub(r"-{5,} ?", "", text)  # the box of a terminal that knows ASCII alone
    text = re.split(r"For full helptext|Argument helptext", text)[0].strip()
    return re.sub(r"\s+", " ", text) or "the options do not fit"


def _in_words(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        library = (error.name or "").split(".")[0]
        if library in EXTRAS:
            extra = EXTRAS[library]
            return f"this needs the extra `{extra}`; pip install 'cosmolabe[{extra}]'"
        return f"a library is missing: {error.name}"
    if isinstance(error, ValueError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory ({error or 'nothing is left'}); ask for less at once"
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return f"{error.strerror}; make room, then run the same command again"
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror or error}{where}"
    first = (str(error).splitlines() or [""])[0]
    return f"unexpected {type(error).__name__}: {first}\nrun again with --debug to see where"


def _refuse(message: str, machine: bool, code: int = BAD_INPUT) -> int:
    if machine:
        return _said(lambda: print(_json({"ok": False, "error": message})), code)
    print(f"cosmolabe: {tame(message)}", file=sys.stderr)
    return code


def _said(say: Callable[[], None], code: int) -> int:
    """The exit code once something was said; a reader that went away (`| head`) changes nothing."""
    try:
        say()
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich makes an exit of a broken pipe
        _hush()
    except OSError as error:
        _hush()
        print(f"cosmolabe: the answer could not be written: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    return code


def _hush() -> None:
    """Let nothing more be tried on stdout, not even at the interpreter's end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _json(tree: Any) -> str:  # noqa: ANN401 - any tree of plain values
    """One line that any stdout can take; lone halves of a character become JSON's own escapes."""
    text = json.dumps(tree, allow_nan=False, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(tree, allow_nan=False)
    return text


def _say(answer: Answer, machine: bool) -> None:
    if sys.stdout is None:  # closed from the start, as by `>&-`
        return
    if machine:
        from cosmolabe.core.record import plain

        print(_json(plain({"ok": answer.ok, **answer.data})))
        return
    from rich.console import Console

    width = None if sys.stdout.isatty() else 140
    console = Console(highlight=False, soft_wrap=True, width=width)
    parts = answer.text if isinstance(answer.text, (list, tuple)) else [answer.text]
    for part in parts:
        console.print(tame(part) if isinstance(part, str) else part, markup=False)
