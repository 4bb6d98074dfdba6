"""The page: report data through one template into HTML, written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.partial_runs import SuitePart
from warehouse.analysis.report_data.report import ReportData
from warehouse.files.output_file import FORCE, REPORT, require_output, write_output
from warehouse.files.whole_file import is_stream
from warehouse.records.clock import utc_now
from warehouse.records.hashing import sha256_of
from warehouse.report import item_tables, log_tables
from warehouse.report.anchors import anchor
from warehouse.report.board import DIRECTION, in_words, unbroken
from warehouse.report.charts import Spec
from warehouse.report.draw import Drawing, can_draw, draw
from warehouse.report.maps import excerpt
from warehouse.report.opening import opening
from warehouse.report.sections import benchmark_section, suite_section

#: What a page is called.
TITLE = "Evaluation report"

#: How the time of a page is written.
MADE = "%Y-%m-%d %H:%M"


@dataclass(frozen=True)
class Written:
    """A report on disk.

    Attributes:
        path: of the file.
        bytes: its size.
        benchmarks: how many it shows.
        unchanged: there was such a page already but for its time, and it was left.
    """

    path: str
    bytes: int
    benchmarks: int
    unchanged: bool = False

    def __str__(self) -> str:
        if self.unchanged:
            return f"unchanged: {self.path}"
        some = f"{self.benchmarks} benchmark{'s' * (self.benchmarks != 1)}"
        return f"wrote {self.path}: {some}, {self.bytes:,} bytes"


#: Parts of the one page, besides suites and benchmarks.
WHOLE = frozenset({"published", "sources", "unscored"})


class Renderer:
    """Makes pages of one report; the templates are compiled once.

    Args:
        made: what stands in their heads for the time, in UTC; empty for now.
    """

    def __init__(self, made: str = "") -> None:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup

        style, script = _text("style.css"), _text("script.js")
        environment = Environment(
            autoescape=True, undefined=StrictUndefined, finalize=_blank, loader=FunctionLoader(_text), auto_reload=False
        )
        environment.globals |= {
            "direction": DIRECTION,
            "logs": log_tables,
            "items": item_tables,
            "excerpt": excerpt,
            "draw": _draw if can_draw() else None,
            "made": made or utc_now().strftime(MADE),
            "version": version("eval-warehouse"),
            "style": Markup(style),
            "script": Markup(script),  # our own files
            "style_hash": _source_hash(style),
            "script_hash": _source_hash(script),
        }
        environment.filters |= {"in_words": in_words, "unbroken": unbroken}
        self._template = environment.get_template("page.html.j2")

    def page(
        self,
        data: ReportData,
        *,
        suites: Sequence[SuitePart],
        benchmarks: Sequence[BenchmarkPart],
        shows: Collection[str] = WHOLE,
        title: str = TITLE,
        **links: Any,
    ) -> str:
        """One page as text. All text of dumps is escaped.

        Args:
            data: what its head, tables and method are about.
            suites: those with a section here.
            benchmarks: the same.
            shows: which tables: published, sources, unscored.
            title: of the page.
            links: ``home`` and ``log``, pages of the same folder, and ``pages``, rows of the
                table of contents; for the parts of a split report.
        """
        files = {row.name: row.file for row in links.get("pages", ())}
        shown = [*benchmarks, *(part for part in data.benchmarks if part.name in files)]
        return self._template.render(
            data=data,
            opening=opening(suites, shown, data.changes, files, _since(data))
            if (suites or shown) and not links.get("home")
            else None,
            anchor=anchor,
            shows=shows,
            title=title,
            suites=[suite_section(part, data.level) for part in suites],
            sections=[
                benchmark_section(part, data.level, data.prompts, n_resamples=data.n_resamples, seed=data.seed)
                for part in benchmarks
            ],
            verdicts=sorted(Counter(row["verdict"] for row in data.published).items()),
            **{"home": "", "log": "", "pages": (), **links},
        )


def render(data: ReportData, *, made: str = "") -> str:
    """The whole report as one page; arguments as for :class:`Renderer`."""
    return Renderer(made).page(data, suites=data.suites, benchmarks=data.benchmarks)


def write_report(
    data: ReportData, path: str | Path, *, keep_unchanged: bool = False, force: bool = False, advice: str = FORCE
) -> Written:
    """Write the page; what stands there is replaced when the new page is whole.

    Args:
        data: what it shows.
        path: of the file.
        keep_unchanged: leave a page alone that shows the same, made at another time.
        force: also in place of a file that is no report.
        advice: what to do about such a file.

    Raises:
        MisuseError: it cannot be written there.
        DiskFullError: there is no room.
    """
    target = require_output(path, REPORT, force=force, advice=advice)
    place = secrets.token_hex(16)  # times of sources may equal the page's
    text = render(data, made=place)
    same = sha256_of(text.replace(place, ""))
    mark = f"<!-- content {same} -->\n"
    if keep_unchanged and not is_stream(target) and (size := _size_if_marked(target, mark)):
        return Written(str(target), size, len(data.benchmarks), unchanged=True)
    page = f"{text.replace(place, utc_now().strftime(MADE))}\n{mark}"
    size = write_output(target, page.encode(), REPORT, force=force, advice=advice)
    return Written(str(target), size, len(data.benchmarks))


def _size_if_marked(target: Path, mark: str) -> int:
    """Bytes of a page that ends with a mark; 0 where there is none."""
    end = mark.encode()
    try:
        with target.open("rb") as page:
            size = page.seek(0, os.SEEK_END)
            page.seek(max(size - len(end), 0))
            return size if page.read() == end else 0
    except OSError:
        return 0


def _since(data: ReportData) -> str:
    """What was read since the last refresh."""
    changes = data.changes
    newer = sum(
        changes is not None and row["loaded_at"] > changes.refreshed_at for row in data.sources if row["loaded_at"]
    )
    if not newer:
        return ""
    sources = "1 source was" if newer == 1 else f"{newer} sources were"
    return f"{sources} read since the last refresh; the comparison does not have them yet: warehouse refresh."


def _draw(spec: Spec) -> Drawing | None:
    """A figure, None where it cannot be drawn: one of them shall not cost the report."""
    try:
        return draw(spec)
    except ValueError:
        return None


def _blank(value: Any) -> Any:
    """What is missing is an empty cell, not the word None."""
    return "" if value is None else value


def _text(name: str) -> str:
    return files("warehouse.report").joinpath(name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """As a content security policy names an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
