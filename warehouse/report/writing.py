"""A report on disk: as one page, or as a folder with a page for each benchmark."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from warehouse.analysis.report_data.report import ReportData, Row
from warehouse.errors import MisuseError
from warehouse.files import (
    FORCE,
    REPORT,
    KnownAs,
    databases_in,
    is_stream,
    require_output,
    write_output,
)
from warehouse.records.canonical_json import sha256_of
from warehouse.records.clock import utc_now
from warehouse.report.opening import heat_columns, heat_windows
from warehouse.report.page import (
    INDEX,
    LOG,
    MADE,
    TITLE,
    Makes,
    Renderer,
    Report,
    Section,
    file_name,
    with_mean,
)
from warehouse.tables.words import plural

#: Benchmarks and bytes up to which a report is one page unless something else is asked
#: for.
MOST_BENCHMARKS, MOST_BYTES = 20, 3_000_000
#: Names of the page and of the folder where none is given.
PAGE, FOLDER = Path("report.html"), Path("report")
#: The page of the whole heat table where the index has a part of it; no benchmark has a
#: page of this name.
SCORES = "all~scores.html"


@dataclass(frozen=True)
class Written:
    """A report on disk."""

    path: str  #: of the file; of a folder its index.
    bytes: int  #: its size, of a folder that of all its pages.
    benchmarks: int  #: how many it shows.
    #: there was such a page already but for its time, and it was left; of a folder all
    #: of them.
    unchanged: bool = False
    pages: int = 1  #: how many.
    why_split: str = ""  #: why these are several where nobody asked for them.

    def __str__(self) -> str:
        if self.unchanged:
            return f"unchanged: {self.path}"
        some = f"{self.benchmarks} {plural('benchmark', self.benchmarks)}"
        pages = ""
        if self.pages > 1:
            pages = f" on {self.pages} pages"
        why = ""
        if self.why_split:
            why = f" ({self.why_split})"
        return f"wrote {self.path}: {some}{pages}, {self.bytes:,} bytes{why}"


def write_report(
    report: Report,
    out: str | Path | None = None,
    *,
    split: bool | None = None,
    sections_by: Makes | None = None,
    keep_unchanged: bool = False,
    force: bool = False,
    known_as: KnownAs = lambda _path, _ours: "",
    advice: str = FORCE,
) -> Written:
    """Write a report; what stands there is replaced when a new page is whole.

    Where ``split`` does not say it, ``out`` may: a file or a name that ends in
    ``.html`` is one page, a folder that is there a folder. Else it is a folder where
    one page would hold many benchmarks or bytes. Of a folder the index is written last:
    it links to no page that is not there. Pages of earlier reports that are not written
    again stay.

    Args:
        report: what it shows; read while it is written.
        out: file or folder; None: `PAGE` or `FOLDER`.
        split: write a folder, or one page.
        sections_by: makes the sections; None: here, one after the other.
        keep_unchanged: leave a page alone that shows the same, made at another time.
        force: also in place of a file that is no report.
        known_as: what a file is to the store.
        advice: what to do about a file that is no report.

    Raises:
        MisuseError: it cannot be written there; nothing is, then.
        DiskFullError: there is no room.
    """
    target = None if out is None else Path(out)
    split, why = _split_and_why(target, split, len(report.names))
    files = _Files(keep_unchanged, force, known_as, advice)
    folder = _Folder(target or FOLDER, report, files) if split else None
    page = target or PAGE
    if folder is None:
        files.check(page)
    rest, size, n_written = report.rest, 0, 0
    sections: list[Section] = []
    renderer = Renderer(files.made)
    for section in (
        sections_by(renderer)
        if sections_by
        else (renderer.section(part, rest) for part in report.parts())
    ):
        sections.append(section)
        size += len(sections[-1].html)
        if split is None and folder is None and size > MOST_BYTES:
            folder, why = (
                _Folder(target or FOLDER, report, files),
                f"more than {MOST_BYTES // 1_000_000} MB",
            )
        if folder is not None:
            sections[n_written:] = [
                folder.add(renderer, unwritten) for unwritten in sections[n_written:]
            ]
            n_written = len(sections)
    if folder is not None:
        return folder.end(renderer, sections, why and f"{why}; as one page: --one-page")
    written = files.write(page, renderer.page(with_mean(report, sections), sections))
    return Written(str(page), written, len(sections), unchanged=not files.n_new)


def _split_and_why(
    out: Path | None, split: bool | None, n_benchmarks: int
) -> tuple[bool | None, str]:
    """Whether to write a folder, and why where nobody said so; None where the size of
    the page decides."""
    if split is None and out is not None and (out.is_dir() or is_page(out)):
        return out.is_dir(), ""
    if split is None and n_benchmarks > MOST_BENCHMARKS:
        return True, f"more than {MOST_BENCHMARKS} benchmarks"
    return split, ""


def is_page(path: Path) -> bool:
    """True where a path names a page and no folder."""
    return is_stream(path) or path.is_file() or path.suffix.lower() in (".html", ".htm")


@dataclass
class _Files:
    """How pages are written; the fields as of :func:`write_report`."""

    keep_unchanged: bool
    force: bool
    known_as: KnownAs
    advice: str
    n_new: int = 0
    #: Stands for the time until a page is written: times of sources may equal it.
    made: str = field(default_factory=lambda: secrets.token_hex(16))

    def check(self, path: Path) -> None:
        """Raise an error where nothing can be written."""
        require_output(
            path, REPORT, force=self.force, known_as=self.known_as, advice=self.advice
        )

    def check_pages(self, folder: Path, names: Iterable[str]) -> None:
        """The same of pages in a folder, of which there may be more than a store can be
        asked about one by one."""
        for name in names:
            require_output(folder / name, REPORT, force=self.force, advice=self.advice)

    def write(self, path: Path, text: str, *, lasting: bool = True) -> int:
        """Write a page, or leave one that shows the same; its bytes."""
        same = sha256_of(text.replace(self.made, ""))
        mark = f"<!-- content {same} -->\n"
        if (
            self.keep_unchanged
            and not is_stream(path)
            and (size := _size_if_marked(path, mark))
        ):
            return size
        self.n_new += 1
        page = f"{text.replace(self.made, utc_now().strftime(MADE))}\n{mark}"
        return write_output(
            path,
            page.encode(),
            REPORT,
            force=self.force,
            advice=self.advice,
            lasting=lasting,
        )


def _size_if_marked(target: Path, mark: str) -> int:
    """Bytes of a page that ends with a mark; 0 where there is none."""
    end = mark.encode()
    try:
        with target.open("rb") as page:
            size = page.seek(0, os.SEEK_END)
            page.seek(max(size - len(end), 0))
            if page.read() == end:
                return size
            return 0
    except OSError:
        return 0


def check_folder(path: str | Path) -> Path:
    """The folder, which is made where it is missing, if pages can be written there.

    Raises:
        MisuseError: it is a file, holds a database, the folder around it is missing, or
            it may not be written to.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise MisuseError(
            f"{folder} is a file, and a folder of pages is to be written: give another "
            "--out"
        )
    if not folder.exists():
        require_output(folder, REPORT)
        folder.mkdir()
    if held := databases_in(folder):
        raise MisuseError(
            f"{folder} holds the database {held[0]}; give the pages a folder of their "
            "own"
        )
    require_output(folder / INDEX, REPORT, force=True)
    return folder


class _Folder:
    """The pages of a report in a folder, as its benchmarks are read.

    Args:
        path: of the folder.
        report: what is written to it.
        files: how.

    Raises:
        MisuseError: a page cannot be written there; none is written then.
    """

    def __init__(self, path: Path, report: Report, files: _Files) -> None:
        self._path, self._files, self._rest = check_folder(path), files, report.rest
        files.check_pages(path, (INDEX, LOG, SCORES, *map(file_name, report.names)))
        self._report = report
        rest = report.rest
        self._published, self._errors = (
            _by_benchmark(rest.published),
            _by_benchmark(rest.published_errors),
        )
        self._unscored = _by_benchmark(rest.unscored)
        self._size = 0

    def add(self, renderer: Renderer, section: Section) -> Section:
        """Write the page of a benchmark that has none yet; what the index keeps of it."""
        if not section.html:
            return section
        name = section.head.name
        own = replace(
            self._rest,
            suites=(),
            published=self._published.get(name, ()),
            published_errors=self._errors.get(name, ()),
            published_said=(),
            unscored=self._unscored.get(name, ()),
        )
        page = renderer.page(
            own,
            [section],
            shows=("published", "unscored"),
            title=f"{name} · {TITLE}",
            home=INDEX,
        )
        self._write(section.entry.file, page)
        verdicts = Counter(row["verdict"] for row in own.published)
        n_unscored = sum(row["n_samples"] for row in own.unscored)
        entry = replace(
            section.entry,
            n_contradicting=verdicts["contradicts"],
            n_unscored=n_unscored,
        )
        return replace(section, html="", entry=entry)

    def end(self, renderer: Renderer, sections: Sequence[Section], why: str) -> Written:
        """Write what is of no benchmark, the index last."""
        entries = [section.entry for section in sections]
        bare = replace(self._rest, suites=())
        log = renderer.page(
            bare, (), shows=("sources",), title=f"Ingest log · {TITLE}", home=INDEX
        )
        self._write(LOG, log)
        whole = with_mean(self._report, sections)
        scores = self._write_scores(renderer, whole, sections)
        index = renderer.page(
            whole, sections, shows=(), log=LOG, pages=entries, scores=scores
        )
        self._write(INDEX, index, lasting=True)
        n_pages = len(entries) + 2 + bool(scores)
        return Written(
            str(self._path / INDEX),
            self._size,
            len(entries),
            not self._files.n_new,
            n_pages,
            why,
        )

    def _write_scores(
        self, renderer: Renderer, whole: ReportData, sections: Sequence[Section]
    ) -> str:
        """The page of the whole heat table; its name, empty where the index has all of
        it."""
        links = {section.head.name: section.entry.file for section in sections}
        heads = [section.head for section in sections]
        windows = heat_windows(
            heat_columns(whole.suites, heads, links, INDEX, mean=whole.mean)
        )
        if windows is None or windows[1] is None:
            return ""
        page = renderer.page(
            replace(whole, suites=()),
            (),
            shows=(),
            title=f"All scores · {TITLE}",
            home=INDEX,
            all_scores=windows[1],
        )
        self._write(SCORES, page)
        return SCORES

    def _write(self, name: str, page: str, *, lasting: bool = False) -> None:
        self._size += self._files.write(self._path / name, page, lasting=lasting)


def _by_benchmark(rows: Sequence[Row]) -> dict[str, tuple[Row, ...]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["benchmark"], []).append(row)
    return {name: tuple(members) for name, members in groups.items()}
