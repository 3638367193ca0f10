"""Writes the page: one file, no network, nothing from a stranger unescaped."""

import base64
import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from cosmolabe.core.record import ESCAPED, write_json, written_whole
from cosmolabe.core.tame import tame
from cosmolabe.report import asked, content, curves, gauge, limits, strips, tables, videos
from cosmolabe.report.folder import read_run

HERE = Path(__file__).parent


def write_report(folder: Path) -> Path:
    """Write report.html, report.json and two Parquet tables from a run folder's records."""
    run = read_run(folder)
    horizons, kinds = content.kind_table(run.kinds)
    columns, games = content.game_table(run.readings)
    lowest, highest = content.extremes(run.windows)
    page = render(
        "report.html",
        {
            "run": run,
            "subject": content.subject(run),
            "headlines": [(r, gauge.gauge_of(r)) for r in content.headlines(run.readings)],
            "columns": columns,
            "games": games,
            "horizons": horizons,
            "kinds": kinds,
            "scenarios": content.scenario_table(run.scenarios),
            "robust": content.robust_table(run.robust),
            "planning": content.planning_table(run.planning),
            "lowest": lowest,
            "highest": highest,
            "reasons": content.reasons(run.skipped),
            "named": run.skipped[: content.MOST_NAMED],
            "limits": content.limits(run),
            "record": content.flat(run.record),
            "curves": curves.draw_curves(run.curves) if run.curves else [],
            "lines": curves.LINES,
            "strips": strips.strips_of(run.clips),
            "videos": videos.section(run) if run.videos else None,
            "asked": asked.section(run) if run.asked or run.vqa else None,
            "skills": content.skills(run.readings),
            "several_models": len({r.model for r in run.readings}) > 1,
            "questions": limits.QUESTIONS,
            "verdict": content.verdict,
        },
    )
    path = write_page(folder / "report.html", page)
    write_json(folder / "report.json", content.content(run))
    tables.write_tables(run, folder)
    return path


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of this folder, style and script inlined."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        finalize=lambda value: tame(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = figure
    environment.filters["text"] = lambda value: "–" if value in (None, "") else str(value)
    script = (HERE / "player.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template(template).render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=digest,
        isfinite=math.isfinite,
        **values,
    )


def write_page(path: Path, page: str) -> Path:
    """Whole or not at all."""
    with written_whole(path) as part:
        part.write_text(page, encoding="utf-8", errors=ESCAPED)
    return path


def figure(value: float | int | None) -> str:
    """A number as people read it; a missing one is a dash, never 0."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    if isinstance(value, int) or size >= 1000:
        text = f"{value:,.0f}".replace(",", "\u2009")
    elif 0 < size < 0.0001:
        return "≈ 0"
    else:
        digits = 0 if size >= 100 else 1 if size >= 10 else 3 if size >= 0.01 or not size else 4
        text = f"{value:.{digits}f}"
    return text.replace("-", "−")
