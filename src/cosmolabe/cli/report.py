"""Draw a run folder's records again as report.html, JSON and Parquet."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from cosmolabe.cli._verb import Answer, Verb


@dataclass(frozen=True, kw_only=True)
class Report(Verb):
    """Draw a run folder's records again as report.html, JSON and Parquet."""

    run_folder: Positional[Path]
    """Folder with readings.json and record.json, as `judge`, `demo` or `compare` left it."""

    def run(self) -> Answer:
        """Write the page beside the records."""
        if (self.run_folder / "comparison.json").is_file():
            from cosmolabe.report.comparison import write_comparison

            path = write_comparison(self.run_folder)
        else:
            from cosmolabe.report.page import write_report

            path = write_report(self.run_folder)
        return Answer({"report": path, "bytes": path.stat().st_size}, f"wrote {path}")


VERB = Report
