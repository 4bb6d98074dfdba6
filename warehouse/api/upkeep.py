"""Methods that keep a store: refresh its figures, write the report, check it, keep it as a lake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.options import REPEATS_AUTO, SEEDS_TRAINING
from warehouse.questions.saying import saying_methods
from warehouse.store.open import open_store

if TYPE_CHECKING:
    from warehouse.analysis.families.family import Family
    from warehouse.refresh.results import Refreshed
    from warehouse.report.writing import Written
    from warehouse.store.lake.check import LakeCheck
    from warehouse.store.lake.sync import SyncReport
    from warehouse.store.lake.versions import LakeVersion, VacuumReport
    from warehouse.store.schema.migrate import CheckReport


class RefreshMethods(Connection):
    """Recompute what is out of date; write reports."""

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

        The store is open only while it is read or written. Figures become visible
        together, at the end; a refresh that was killed is taken up by the next.

        Args:
            benchmarks: names; none means all.
            families: names of metric families, or families of your own; all but those
                that take long, if empty.
            baselines: references of models that all others are compared with.
            level: nominal coverage of the intervals, in (0, 1).
            n_resamples: draws behind rank sets.
            permutations: shuffled matrices of the matrix tests.
            seed: of everything random.
            lake: where a lake of this store lies, or shall; it is brought up
                afterwards, in one version.
            progress: called with (done, all) questions.

        Raises:
            MisuseError: an unknown family or benchmark, a number out of range; a lake
                of another store.
            StatisticsError: a level out of range.
            StoreLockedError: another process refreshes this store.
        """
        from warehouse.analysis.families.family import FamilySettings
        from warehouse.refresh.run import RefreshRequest, refresh

        families = (families,) if isinstance(families, str) else families
        baselines = (baselines,) if isinstance(baselines, str) else baselines
        settings = FamilySettings(
            level=level,
            baselines=tuple(baselines),
            n_resamples=n_resamples,
            permutations=permutations,
            seed=seed,
        )
        work = RefreshRequest(tuple(families), benchmarks, settings)
        with saying_methods():
            return refresh(
                self._opener, work, wait=self.wait, progress=progress, lake=lake
            )

    def report(
        self,
        out: str | Path | None = None,
        *benchmarks: str,
        split: bool | None = None,
        jobs: int | None = None,
        force: bool = False,
        level: float = 0.95,
        n_resamples: int = 1999,
        seed: int = 0,
        each: str | None = None,
        repeats: str = REPEATS_AUTO,
        seeds_are: str = SEEDS_TRAINING,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Written:
        """Write benchmarks as one HTML page that needs no network, or as a folder of
        pages.

        A benchmark that has no leaderboard or no pairs is shown with the reason.

        Args:
            out: file of the page (``.html``), or the folder; None: ``report.html``, or
                the folder ``report``.
            benchmarks: names, of suites too; none for all with current runs.
            split: write a folder: ``index.html``, and a page for each benchmark; False:
                one page; None: a folder above 20 benchmarks or 3 MB, unless ``out``
                names a file.
            jobs: processes that work side by side, for which a script needs ``if
                __name__ == "__main__":``; None: this one alone.
            force: also in place of a file that no earlier report is.
            level: nominal coverage of all intervals, in (0, 1).
            n_resamples: draws behind rank sets and simultaneous intervals; 0 leaves
                them out.
            seed: of the draws.
            each: ``"seed"`` or ``"checkpoint"``: these stand apart; None: one row a
                model.
            repeats: what becomes of runs of one condition: ``"auto"`` (by their test),
                ``"pool"``, ``"as_seeds"`` or ``"split"``.
            seeds_are: what a seed of a run is of: ``"training"`` or ``"sampling"``.
            progress: called with name, number done and number of all before each
                benchmark.

        Raises:
            MisuseError: an unknown benchmark, another word for rows, or a path that
                cannot be written.
            StatisticsError: ``level``, ``n_resamples`` or ``seed`` out of range.
        """
        from warehouse.analysis.report_data.report import ReportReading
        from warehouse.files import FORCE_IN_PYTHON
        from warehouse.report.workers import side_by_side
        from warehouse.report.writing import FOLDER, check_folder, write_report
        from warehouse.store.known_sources import known_in

        if split:
            check_folder(out or FOLDER)
        with self._reading() as store:
            reading = ReportReading(
                store,
                benchmarks,
                level=level,
                n_resamples=n_resamples,
                seed=seed,
                each=each,
                repeats=repeats,
                seeds_are=seeds_are,
                progress=progress,
            )
            known, advice = known_in(store), FORCE_IN_PYTHON
            by = side_by_side(reading, jobs or 1)
            return write_report(
                reading,
                out,
                split=split,
                sections_by=by,
                force=force,
                known_as=known,
                advice=advice,
            )


class LakeMethods(Connection):
    """What is done with lakes; :func:`warehouse.connect` with ``sail:?lake=…`` asks
    one."""

    def lake_sync(self, location: str, *, anew: bool = False) -> SyncReport:
        """Bring a lake up to what the store holds, in one version.

        Args:
            location: a folder, or a URL that the package ``deltalake`` takes
                (``s3://…``).
            anew: write every table as a whole: after damage, or from another store.

        Raises:
            MisuseError: the place holds something else, the lake was made from another
                store, or the extra ``lake`` is not installed.
            StoreError: the store is older than the lake, or the lake cannot be read or
                written.
        """
        from warehouse.store.lake.sync import sync

        with self._reading() as store:
            return sync(store, location, anew=anew)

    def check(
        self, *, deep: bool = False, progress: Callable[[float], object] | None = None
    ) -> CheckReport:
        """Prove that schema and facts are what they should be, as `warehouse store check`.

        Args:
            deep: work out keys, digests, counts and text hashes of all runs anew from
                what is stored, too.
            progress: told which share of that is done, in (0, 1].

        Raises:
            StoreError: there is no store, or another process holds it.
        """
        from warehouse.store.schema.migrate import check

        with open_store(self.url, check=False, wait=self.wait) as store:
            return check(store, deep=deep, progress=progress)

    def lake_check(self, location: str) -> LakeCheck:
        """Hold all rows of a lake's newest version against those of the store.

        Args:
            location: of the lake.

        Raises:
            MisuseError: the lake was made from another store.
            StoreError: there is no lake, or it cannot be read.
        """
        from warehouse.store.lake.check import check

        with self._reading() as store:
            return check(store, location)

    def lake_versions(self, location: str) -> list[LakeVersion]:
        """The versions of a lake that can be asked, newest first.

        Args:
            location: of the lake.

        Raises:
            StoreError: there is no lake, or it cannot be read.
        """
        from warehouse.store.lake.versions import LakeLocation, history

        return history(LakeLocation(location))

    def lake_vacuum(
        self, location: str, *, older_than: timedelta = timedelta(days=7)
    ) -> VacuumReport:
        """Remove old versions of a lake, but never the newest, and join small files.

        Args:
            location: of the lake.
            older_than: versions go that were replaced longer ago.

        Raises:
            MisuseError: a negative age.
            StoreError: there is no lake, it cannot be read or written, or a sync is
                under way.
        """
        from warehouse.store.lake.versions import vacuum

        return vacuum(location, older_than=older_than)
