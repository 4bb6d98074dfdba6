"""The page: report data through templates into HTML, one benchmark after the other."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Protocol

from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.report_data.report import ReportData
from warehouse.analysis.selection.selection import RowRules
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.charts.page_parts import figures, notes
from warehouse.records.clock import utc_now
from warehouse.report import log_tables, maps
from warehouse.report.board import in_words
from warehouse.report.fold import MOST_NODES, OF_SCRIPT, fit, n_nodes
from warehouse.report.heat import HeatWindow
from warehouse.report.opening import HeadEntry, head_of, left_out_of, opening
from warehouse.report.sections import benchmark_section, suite_section
from warehouse.tables.anchors import anchor, slug
from warehouse.tables.page import broken, unbroken
from warehouse.tables.words import DIRECTIONS

#: What a page is called.
TITLE = "Evaluation report"

#: How the time of a page is written.
MADE = "%Y-%m-%d %H:%M"


class Report(Protocol):
    """What pages are made of: :class:`ReportData`, or a `ReportReading` that reads
    while they are written."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def rest(self) -> ReportData: ...
    def parts(self) -> Iterator[BenchmarkPart]: ...
    def mean_of(self, ranked: Mapping[str, Collection[str]]) -> SuiteBoard | None: ...


class Settings(Protocol):
    """Settings that figures rest on."""

    @property
    def level(self) -> float: ...
    @property
    def n_resamples(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def each(self) -> str | None: ...
    @property
    def repeats(self) -> str: ...
    @property
    def seeds_are(self) -> str: ...


def _rules(settings: Settings) -> RowRules:
    return RowRules(settings.each, settings.repeats, settings.seeds_are)


@dataclass(frozen=True)
class Section:
    """A benchmark in HTML, and what is left of it in memory when that is written."""

    head: HeadEntry  #: what the head of the report says of it.
    entry: PageEntry  #: its row in the contents of a folder, without what is read of all benchmarks at once.
    html: str  #: the section; empty once it is written.


#: Makes the sections of a report, in their order.
Makes = Callable[["Renderer"], Iterable[Section]]

#: Parts of the one page, besides suites and benchmarks.
WHOLE = frozenset({"published", "sources", "unscored"})


class Renderer:
    """Makes pages of one report; the templates are compiled once.

    Args:
        made: what stands in their heads for the time, in UTC; empty for now.
    """

    def __init__(self, made: str = "") -> None:
        self.made = made
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup

        style, script = _text("style.css"), _text("script.js")
        environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_blank,
            loader=FunctionLoader(_text),
            auto_reload=False,
        )
        environment.globals |= {
            "anchor": anchor,
            "direction": DIRECTIONS,
            "logs": log_tables,
            "items": maps,
            "figures": figures,
            "notes": notes,
            "made": made or utc_now().strftime(MADE),
            "version": version("eval-warehouse"),
            "style": Markup(style),
            "script": Markup(script),  # our own files
            "style_hash": source_hash(style),
            "script_hash": source_hash(script),
        }
        environment.filters |= {
            "in_words": in_words,
            "unbroken": unbroken,
            "broken": broken,
        }
        self._page, self._benchmark, self._suite = (
            environment.get_template(f"{name}.html.j2")
            for name in ("page", "benchmark", "suite")
        )

    def section(self, part: BenchmarkPart, ranks: Settings) -> Section:
        """A benchmark; all text of dumps is escaped.

        Args:
            ranks: the settings of its figures.
        """
        section = benchmark_section(
            part,
            ranks.level,
            n_resamples=ranks.n_resamples,
            seed=ranks.seed,
            rows=_rules(ranks),
        )
        html = self._benchmark.render(section=section, part=part)
        return Section(head_of(part, section["answer"]), _entry(part), html)

    def page(
        self,
        data: ReportData,
        sections: Sequence[Section],
        *,
        shows: Collection[str] = WHOLE,
        title: str = TITLE,
        home: str = "",
        log: str = "",
        pages: Sequence[PageEntry] = (),
        scores: str = "",
        all_scores: HeatWindow | None = None,
    ) -> str:
        """One page as text.

        Args:
            data: what its suites, tables and method are about.
            sections: the benchmarks that it shows, or that the pages of its folder
                show.
            shows: which tables: published, sources, unscored.
            title: of the page.
            home: the index of the folder that it is in, if it is not that.
            log: the page of sources.
            pages: rows of the table of contents.
            scores: the page of all scores, if these do not stand here.
            all_scores: the table of that page.
        """
        own = [section for section in sections if section.html]
        there = {
            "published": data.published or data.published_errors,
            "sources": data.sources,
            "unscored": data.unscored,
        }
        shows = {part for part in shows if there[part]}
        suites = [suite_section(part, data.level, _rules(data)) for part in data.suites]
        links = {entry.name: entry.file for entry in pages}
        heads = [section.head for section in sections]
        placeholder = secrets.token_hex(16)
        opened = None
        if sections and not home:
            opened = opening(
                data.suites,
                heads,
                data.changes,
                links,
                _since(data),
                left_out_of(data, heads, shows),
                data.mean,
            )
        text = self._page.render(
            data=data,
            n_benchmarks=len(sections),
            opening=opened,
            shows=shows,
            title=title,
            placeholder=placeholder,
            suites=suites,
            benchmarks=[section.head.name for section in own],
            home=home,
            log=log,
            pages=pages,
            scores=scores,
            all_scores=all_scores,
        )
        blocks = [
            self._suite.render(section=suite, part=suite["part"]) for suite in suites
        ]
        room = MOST_NODES - OF_SCRIPT - n_nodes(text)
        return text.replace(
            placeholder,
            "\n".join(fit([*blocks, *(section.html for section in own)], room)),
        )


def render(report: Report, *, made: str = "") -> str:
    """The whole report as one page; arguments as for :class:`Renderer`."""
    renderer, rest = Renderer(made), report.rest
    sections = [renderer.section(part, rest) for part in report.parts()]
    return renderer.page(with_mean(report, sections), sections)


def with_mean(report: Report, sections: Sequence[Section]) -> ReportData:
    """What is not of one benchmark, with the mean over those that were read."""
    ranked = {}
    for section in sections:
        ranked[section.head.name] = section.head.models
    return replace(report.rest, mean=report.mean_of(ranked))


def _since(data: ReportData) -> str:
    """Sentence on sources read since the last refresh."""
    changes = data.changes
    newer = sum(
        changes is not None and row["loaded_at"] > changes.refreshed_at
        for row in data.sources
        if row["loaded_at"]
    )
    if not newer:
        return ""
    if newer == 1:
        sources = "1 source was"
    else:
        sources = f"{newer} sources were"
    return (
        f"{sources} read since the last refresh; the comparison does not have them "
        "yet: warehouse refresh."
    )


def _blank(value: Any) -> Any:
    """A value for a cell; a missing one is empty, not the word None."""
    if value is None:
        return ""
    return value


def _text(name: str) -> str:
    return files("warehouse.report").joinpath(name).read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """An inline script or style as a content security policy names it, by its hash."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


#: The pages of a folder that are of no benchmark.
INDEX, LOG = "index.html", "ingest-log.html"


@dataclass(frozen=True)
class PageEntry:
    """A row of the index: the file of a benchmark, and what there is of it."""

    name: str
    file: str
    metric: str
    n_rows: int
    n_contradicting: int = 0
    n_unscored: int = 0


def file_name(benchmark: str) -> str:
    """The file of a benchmark: its name, where every file system takes that and no
    other benchmark can have it; else what is left of it, with a hash. It depends on
    nothing but the name."""
    return f"{slug(benchmark, (INDEX.removesuffix('.html'), LOG.removesuffix('.html')))}.html"


def _entry(part: BenchmarkPart) -> PageEntry:
    rows = part.board.rows if part.board else ()
    return PageEntry(
        name=part.name,
        file=file_name(part.name),
        metric=part.board.metric if part.board else "",
        n_rows=len(rows),
    )
