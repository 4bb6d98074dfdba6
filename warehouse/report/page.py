"""The page: report data through one template into HTML, written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError
from warehouse.metrics.pair_rows import PairRow
from warehouse.metrics.pairs import PairGroup, Pairs
from warehouse.metrics.reporting import BenchmarkPart, ReportData
from warehouse.report.plots import WIDTH, make_axis

#: Conditions of one group that the matrix of all pairs shows.
MATRIX_SIZE = 50

_DIRECTION = {True: "higher is better", False: "lower is better", None: "direction unknown"}


@dataclass(frozen=True)
class Written:
    """A report on disk.

    Attributes:
        path: of the file.
        bytes: its size.
        benchmarks: how many it shows.
    """

    path: str
    bytes: int
    benchmarks: int

    def __str__(self) -> str:
        return f"wrote {self.path}: {self.benchmarks} benchmarks, {self.bytes} bytes"


def render(data: ReportData, *, made: datetime | None = None) -> str:
    """The page as text. All text of dumps is escaped.

    Args:
        data: what it shows.
        made: the time that stands in its head, naive UTC; None for now.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style, script = _text("style.css"), _text("script.js")
    made = made or datetime.now(UTC).replace(tzinfo=None)
    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=_blank)
    return environment.from_string(_text("page.html.j2")).render(
        data=data, sections=[_section(part) for part in data.benchmarks], direction=_DIRECTION,
        verdicts=sorted(Counter(row["verdict"] for row in data.published).items()), width=WIDTH,
        title="Evaluation report", made=made.strftime("%Y-%m-%d %H:%M"),
        style=Markup(style), script=Markup(script),  # our own files
        version=version("eval-warehouse"), style_hash=_source_hash(style),
        script_hash=_source_hash(script),
    )  # fmt: skip


def check_target(path: str | Path) -> Path:
    """The path, if a report can be written there.

    Raises:
        MisuseError: its folder is missing or may not be written to, or it is a folder.
    """
    target = Path(path)
    if target.is_dir():
        raise MisuseError(f"{target} is a folder; name a file, such as {target / 'report.html'}")
    if not target.parent.is_dir():
        raise MisuseError(f"the folder {target.parent} does not exist; create it first")
    if not os.access(target.parent, os.W_OK):
        raise MisuseError(f"the folder {target.parent} may not be written to; choose another")
    return target


def write_report(data: ReportData, path: str | Path) -> Written:
    """Write the page; what stands there is replaced when the new page is whole.

    Raises:
        MisuseError: it cannot be written there.
    """
    target = check_target(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    content = render(data).encode()
    try:
        draft.write_bytes(content)
        draft.replace(target)
    except OSError as error:
        raise MisuseError(f"{target} cannot be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
    return Written(str(target), len(content), len(data.benchmarks))


def _blank(value: Any) -> Any:
    """What is missing is an empty cell, not the word None."""
    return "" if value is None else value


def _text(name: str) -> str:
    return files("warehouse.report").joinpath(name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """As a content security policy names an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _section(part: BenchmarkPart) -> dict[str, Any]:
    rows = part.board.rows if part.board else ()
    ends = [value for row in rows for value in (row.estimate, row.ci_low, row.ci_high)]
    return {
        "part": part,
        "axis": make_axis(ends),
        "conditions": any(row.condition for row in rows),
        "splits": any(row.split for row in rows),
        "metrics": len({row.metric for row in rows}) > 1,
        "reasons": any(row.ci_low is None for row in rows),
        "clusters": any(row.n_clusters is not None for row in rows),
        "groups": _groups(part.pairs) if part.pairs else [],
    }


def _groups(found: Pairs) -> list[dict[str, Any]]:
    groups, rows = [], list(found.rows)
    for group in found.groups:
        own, rows = rows[: len(group.pairs)], rows[len(group.pairs) :]
        groups.append(_group(group, own, several=len(found.groups) > 1))
    return groups


def _group(group: PairGroup, rows: list[PairRow], several: bool) -> dict[str, Any]:
    labels = group.labels
    against_first = rows[: len(labels) - 1]
    ends = [end for row in against_first for end in (row.difference, row.ci_low, row.ci_high)]
    return {
        "first": labels[0],
        "name": ", ".join(filter(None, (group.metric, group.split, group.task_version)))
        if several else "",
        "n_pairs": len(rows),
        "reasons": any(row.reason for row in against_first),
        "size": round(1 - group.pairs.level, 10),
        "axis": make_axis(ends, also=(0.0,)),
        "forest": list(zip(labels[1:], against_first, strict=True)),
        "matrix": _matrix(group),
        "more": max(0, len(labels) - MATRIX_SIZE),
    }  # fmt: skip


def _matrix(group: PairGroup) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Label and cells of each row: the difference as text, and whether Holm's test tells it."""
    shown = group.labels[:MATRIX_SIZE]
    differences, holm = (
        group.pairs.square(name)[:MATRIX_SIZE, :MATRIX_SIZE].tolist()
        for name in ("difference", "p_holm")
    )
    size = 1 - group.pairs.level
    return [
        (
            label,
            [
                (f"{value:+.3g}" if value == value else "·", p <= size)
                for value, p in zip(values, ps, strict=True)
            ],
        )
        for label, values, ps in zip(shown, differences, holm, strict=True)
    ]
