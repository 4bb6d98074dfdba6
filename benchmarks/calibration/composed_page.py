"""docs/reference/calibration_composed.md and its table docs/reference/calibration/composed.csv: before and
after, side by side."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import calibration.script as script
from calibration.composed_outcomes import ComposedRow

_TITLES = {
    "0": "Two runs with scores of 0 and 1",
    "a": "Weighted means",
    "b": "All pairs of models, scores without bounds",
    "c": "Suites and overall rows",
    "d": "Costs",
    "e": "Whether a curve rises",
    "f": "Agreement",
    "g": "Corrected means without bounds",
    "h": "Subsets, scores without bounds",
    "i": "Templates, both sampled",
    "j": "The band of Bradley-Terry strengths",
    "k": "Time horizons",
    "l": "Power that was planned for",
    "m": "Figures that a scale of published ones predicts",
    "q": "Rows over seeds, and repeats",
}
Key = tuple[str, str, str]


def write_page(page: Path, rows: Sequence[ComposedRow]) -> None:
    """Put the tables between the marks of the page, and every figure into the table
    beside it."""
    before = read_table(page.parent / "calibration" / "composed_before.csv")
    lines: list[str] = []
    for rule, title in _TITLES.items():
        part = [row for row in rows if row.rule == rule]
        if part:
            lines += ["", f"## {title}", "", *_table(part, before)]
    script.write_between(page, script.MARKS, [*lines, ""])
    write_table(page.parent / "calibration" / "composed.csv", rows)


def write_table(path: Path, rows: Sequence[ComposedRow]) -> None:
    """Every figure of every cell."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(ComposedRow._fields)
        for row in rows:
            figures = ["" if math.isnan(value) else f"{value:.4g}" for value in row[4:]]
            lines.writerow([*row[:4], *figures])


def read_table(path: Path) -> dict[Key, ComposedRow]:
    """The rows of a table by rule, figure and name; empty without one."""
    if not path.exists():
        return {}
    found = {}
    with path.open(encoding="utf-8", newline="") as table:
        for line in csv.DictReader(table):
            figures = [
                float(line[name] or "nan")
                for name in ("failed", "none", "flagged", "width")
            ]
            row = ComposedRow(
                line["rule"],
                line["figure"],
                line["name"],
                int(line["simulations"]),
                *figures,
            )
            found[row[:3]] = row
    return found


def _table(rows: Sequence[ComposedRow], before: Mapping[Key, ComposedRow]) -> list[str]:
    head = [
        "| data | what | samples | before | now | flagged before | flagged now | "
        "width, now over before |"
    ]
    lines = [*head, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for row in rows:
        old = before.get(row[:3])
        shares = ["", _percent(row.failed, row.none), "", _percent(row.flagged), ""]
        if old is not None:
            shares[0], shares[2] = _percent(old.failed, old.none), _percent(old.flagged)
            shares[4] = _ratio(row.width, old.width)
        lines.append(
            f"| {' | '.join([row.name, row.figure, str(row.simulations), *shares])} |"
        )
    return lines


def _percent(share: float, none: float = 0.0) -> str:
    text = "-" if math.isnan(share) else f"{100 * share:.1f} %"
    return f"{text} ({100 * none:.0f} % without)" if none >= 0.005 else text


def _ratio(now: float, before: float) -> str:
    return "" if math.isnan(now) or math.isnan(before) else f"×{now / before:.2f}"
