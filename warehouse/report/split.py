"""The report in a folder: an index, and one page for each benchmark under a name that stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warehouse.analysis.leaderboard.words import first_named
from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.report import ReportData, Row
from warehouse.errors import MisuseError
from warehouse.files.output_file import REPORT, databases_in, require_output, write_output
from warehouse.report.anchors import slug
from warehouse.report.page import TITLE, Renderer, Written

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
