"""The page: report data through one template into HTML, as one file or as a folder of them."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from warehouse.analysis.leaderboard.words import first_named
from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.partial_runs import SuitePart
from warehouse.analysis.report_data.report import ReportData, Row
from warehouse.errors import MisuseError
from warehouse.files import FORCE, REPORT, databases_in, is_stream, require_output, write_output
from warehouse.records.canonical_json import sha256_of
from warehouse.records.clock import utc_now
from warehouse.report import log_tables, maps
from warehouse.report.board import DIRECTION, in_words, unbroken
from warehouse.report.charts import Spec
from warehouse.report.draw import Drawing, can_draw, draw
from warehouse.report.maps import excerpt
from warehouse.report.opening import anchor, left_out_of, opening, slug
from warehouse.report.sections import benchmark_section, suite_section
from warehouse.report.table import broken

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
            "items": maps,
            "excerpt": excerpt,
            "draw": _draw if can_draw() else None,
            "made": made or utc_now().strftime(MADE),
            "version": version("eval-warehouse"),
            "style": Markup(style),
            "script": Markup(script),  # our own files
            "style_hash": _source_hash(style),
            "script_hash": _source_hash(script),
        }
        environment.filters |= {"in_words": in_words, "unbroken": unbroken, "broken": broken}
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
            opening=opening(suites, shown, data.changes, files, _since(data), left_out_of(data, shown, shows))
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
    placeholder = secrets.token_hex(16)  # times of sources may equal the page's
    text = render(data, made=placeholder)
    same = sha256_of(text.replace(placeholder, ""))
    mark = f"<!-- content {same} -->\n"
    if keep_unchanged and not is_stream(target) and (size := _size_if_marked(target, mark)):
        return Written(str(target), size, len(data.benchmarks), unchanged=True)
    page = f"{text.replace(placeholder, utc_now().strftime(MADE))}\n{mark}"
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


#: The pages that are of no benchmark.
INDEX, LOG = "index.html", "ingest-log.html"


@dataclass(frozen=True)
class PageEntry:
    """A row of the index: the file of a benchmark, and the first of its leaderboard."""

    name: str
    file: str
    metric: str
    n_rows: int
    model: str
    estimate: float | None
    low: float | None
    high: float | None
    n_contradicting: int
    n_unscored: int


def file_name(benchmark: str) -> str:
    """The file of a benchmark: its name, where every file system takes that and no other benchmark
    can have it; else what is left of it, with a hash. It depends on nothing but the name."""
    return f"{slug(benchmark, (INDEX.removesuffix('.html'), LOG.removesuffix('.html')))}.html"


def check_folder(path: str | Path) -> Path:
    """The folder, which is made where it is missing, if pages can be written there.

    Raises:
        MisuseError: it is a file, holds a database, the folder around it is missing, or it may not be written to.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise MisuseError(f"{folder} is a file; --split writes a folder: give another --out")
    if not folder.exists():
        require_output(folder, REPORT)
        folder.mkdir()
    if held := databases_in(folder):
        raise MisuseError(f"{folder} holds the database {held[0]}; give the pages a folder of their own")
    require_output(folder / INDEX, REPORT, force=True)
    return folder


def write_split(data: ReportData, path: str | Path, *, force: bool = False) -> Written:
    """Write the pages of a report into a folder, the index last: whole pages only, and links to
    none that is not there. Pages of earlier reports that are not written again stay.

    Args:
        force: also in place of files that are no pages of a report.

    Raises:
        MisuseError: they cannot be written there; none is written then.
        DiskFullError: there is no room.
    """
    folder = check_folder(path)
    for name in (INDEX, LOG, *(file_name(part.name) for part in data.benchmarks)):
        require_output(folder / name, REPORT, force=force)
    renderer = Renderer()
    published, unscored = _by_benchmark(data.published), _by_benchmark(data.unscored)
    errors = _by_benchmark(data.published_errors)
    size, entries = 0, []
    for part in data.benchmarks:
        own = replace(
            data,
            suites=(),
            benchmarks=(part,),
            published=published.get(part.name, ()),
            published_errors=errors.get(part.name, ()),
            unscored=unscored.get(part.name, ()),
        )
        entry = _entry(part, own)
        entries.append(entry)
        page = renderer.page(
            own,
            suites=(),
            benchmarks=(part,),
            shows=("published", "unscored"),
            title=f"{part.name} · {TITLE}",
            home=INDEX,
        )
        size += write_output(folder / entry.file, page.encode(), REPORT, force=force)
    log = renderer.page(data, suites=(), benchmarks=(), shows=("sources",), title=f"Ingest log · {TITLE}", home=INDEX)
    size += write_output(folder / LOG, log.encode(), REPORT, force=force)
    index = renderer.page(data, suites=data.suites, benchmarks=(), shows=(), log=LOG, pages=entries)
    size += write_output(folder / INDEX, index.encode(), REPORT, force=force)
    return Written(str(folder / INDEX), size, len(data.benchmarks))


def _by_benchmark(rows: Sequence[Row]) -> dict[str, tuple[Row, ...]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["benchmark"], []).append(row)
    return {name: tuple(members) for name, members in groups.items()}


def _entry(part: BenchmarkPart, own: ReportData) -> PageEntry:
    rows = part.board.rows if part.board else ()
    best = next((row for row in rows if row.rank == 1), None)
    verdicts = Counter(row["verdict"] for row in own.published)
    return PageEntry(
        name=part.name,
        file=file_name(part.name),
        metric=part.board.metric if part.board else "",
        n_rows=len(rows),
        model=first_named(rows, part.board.higher_is_better) if part.board else "",
        estimate=best.estimate if best else None,
        low=best.ci_low if best else None,
        high=best.ci_high if best else None,
        n_contradicting=verdicts["contradicts"],
        n_unscored=sum(row["n_samples"] for row in own.unscored),
    )
