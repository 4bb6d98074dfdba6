"""Stored figures, kept fresh and looked back on; everything as one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.question import Gives, method
from warehouse.questions.refresh import FigureHistory

if TYPE_CHECKING:
    from warehouse.analysis.families.family import Family
    from warehouse.refresh.history import History  # noqa: F401
    from warehouse.refresh.results import Refreshed
    from warehouse.report.page import Written


class RefreshMethods(Connection):
    """Recompute what is out of date; show how figures changed; write reports."""

    history = method(FigureHistory, Gives["History"])

    def refresh(
        self,
        *benchmarks: str,
        families: Sequence[str | Family] = (),
        baselines: Sequence[str] = (),
        level: float = 0.95,
        n_resamples: int = 1999,
        permutations: int = 1000,
        seed: int = 0,
        lake: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Refreshed:
        """Recompute stored figures that are out of date.

        The store is open only while it is read or written. Figures become visible together, at the
        end; a refresh that was killed is taken up by the next.

        Args:
            benchmarks: names; none means all.
            families: names of metric families, or families of your own; all but those that take
                long, if empty.
            baselines: references of models that all others are compared with.
            level: nominal coverage of the intervals, in (0, 1).
            n_resamples: draws behind rank sets.
            permutations: shuffled matrices of the matrix tests.
            seed: of everything random.
            lake: where a lake of this store lies, or shall; it is brought up afterwards, in one version.
            progress: called with (done, all) questions.

        Raises:
            MisuseError: an unknown family or benchmark, a number out of range; a lake of another store.
            StatisticsError: a level out of range.
            StoreLockedError: another process refreshes this store.
        """
        from warehouse.analysis.families.family import FamilySettings
        from warehouse.refresh.run import RefreshRequest, refresh

        settings = FamilySettings(
            level=level, baselines=tuple(baselines), n_resamples=n_resamples, permutations=permutations, seed=seed
        )
        work = RefreshRequest(tuple(families), benchmarks, settings)
        return refresh(self.opener, work, wait=self.wait, progress=progress, lake=lake)

    def report(
        self,
        out: str | Path = "report.html",
        *benchmarks: str,
        split: bool = False,
        force: bool = False,
        level: float = 0.95,
        n_resamples: int = 1999,
        seed: int = 0,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Written:
        """Write benchmarks as one HTML page that needs no network, or as a folder of pages.

        A benchmark that has no leaderboard or no pairs is shown with the reason.

        Args:
            out: file of the page, or the folder.
            benchmarks: names, of suites too; none for all with current runs.
            split: write a folder: ``index.html``, and a page for each benchmark.
            force: also in place of a file that no earlier report is.
            level: nominal coverage of all intervals, in (0, 1).
            n_resamples: draws behind rank sets and simultaneous intervals; 0 leaves them out.
            seed: of the draws.
            progress: called with name, number done and number of all before each benchmark.

        Raises:
            MisuseError: an unknown benchmark, or a path that cannot be written.
            StatisticsError: ``level``, ``n_resamples`` or ``seed`` out of range.
        """
        from warehouse.analysis.report_data.report import read_report
        from warehouse.files import FORCE_IN_PYTHON, REPORT, require_output
        from warehouse.report.page import check_folder, write_report, write_split
        from warehouse.store.load.source_ledger import known_in

        if split:
            check_folder(out)
        with self.reading() as store:
            if not split:
                require_output(out, REPORT, force=force, known_as=known_in(store), advice=FORCE_IN_PYTHON)
            data = read_report(store, benchmarks, level=level, n_resamples=n_resamples, seed=seed, progress=progress)
        return (write_split if split else write_report)(data, out, force=force)
