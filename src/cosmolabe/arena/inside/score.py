"""What was tried so far, best on val first: `python score.py`. The scores are the harness's own."""

import csv
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = ("experiment", "status", "score", "c1", "c10", "c20", "skill", "wall", "note")


def main() -> None:
    """Print the table of experiments."""
    with (HERE / "experiments" / "summary.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    rows.sort(key=lambda row: float(row["score"] or "-inf"), reverse=True)
    for row in [dict(zip(COLUMNS, COLUMNS, strict=True)), *rows]:
        print("\t".join(row[name] for name in COLUMNS))
    print(f"{(HERE / 'time_left').read_text().strip()} left")


if __name__ == "__main__":
    main()
