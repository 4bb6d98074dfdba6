"""Methods that change a store: load into it, refresh its figures, keep it as a lake."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.api.connection import Connection, refuse_given
from warehouse.errors import MisuseError
from warehouse.questions.methods import Gives, method
from warehouse.questions.options import REPEATS_AUTO, SEEDS_TRAINING
from warehouse.refresh.question import FigureHistory
from warehouse.store.open import open_store

if TYPE_CHECKING:
    from warehouse.analysis.families.family import Family
    from warehouse.ingest.progress import IngestProgress
    from warehouse.ingest.report import IngestReport
    from warehouse.interchange.every_eval_ever import EveryEvalEverReport
    from warehouse.interchange.inspect_logs import InspectReport
    from warehouse.refresh.history_report import History  # noqa: F401
    from warehouse.refresh.results import Refreshed
    from warehouse.report.writing import Written
    from warehouse.store.lake.check import LakeCheck
    from warehouse.store.lake.sync import SyncReport
    from warehouse.store.lake.versions import LakeVersion, VacuumReport
    from warehouse.store.load.state import LoadOptions
    from warehouse.store.schema.migrate import CheckReport
    from warehouse.store.snapshot import PublishedCopy


class Frame(Protocol):
    """A table in memory: a frame of pandas or polars, a table or batch of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Its rows as an Arrow stream."""


class LoadMethods(Connection):
    """Ingest dumps; publish and export the store."""

    def ingest(
        self,
        *paths: str | Path | Frame,
        format: str | None = None,
        values: Mapping[str, Any] | None = None,
        mapping: str | Path | None = None,
        higher_is_better: bool | None = None,
        options: LoadOptions | None = None,
        defaults: Mapping[str, Any] | None = None,
        force: bool = False,
        dry_run: bool = False,
        progress: IngestProgress | None = None,
        only: Callable[[Sequence[Path]], bool] | None = None,
        on: str | None = None,
        lake: str | None = None,
        max_files: int = 10_000,
        max_bytes: int = 20_000_000_000,
        max_time: float = 7200.0,
        allow_private: bool = False,
    ) -> IngestReport:
        """Load every dump found under some paths.

        Args:
            paths: files or folders; folders are walked. Also URLs (``hf://``, ``s3://``, ``https://``
                …), which are fetched first (extra ``remote``), frames of pandas or polars, and Arrow
                tables, one row for each prompt (and model, and draw): they are read as the Parquet
                file would be that they make, so equal frames are one source.
            format: name of an importer; None for whichever recognises a file.
            values: header fields that hold whatever the dumps say (``{"temperature": 0.7}``).
            mapping: a mapping file for tabular dumps, or the name of a shipped one.
            higher_is_better: direction of the metrics of which a dump says none.
            options: what to do about conflicts, duplicates and bad rows.
            defaults: header fields for what the dumps leave empty (``{"model": "org/name"}``).
            force: file the runs of several named models under the one that ``values`` names.
            dry_run: read and check everything, store nothing.
            progress: called as sources and rows go by.
            only: called with the files of each source, whether to load it; None for all.
            on: a server whose executors read the dumps: ``sc://HOST:PORT`` (Spark Connect), or ``sail:``
                for one in this process; None for this process. They have the same version of this
                package, and see the files under the same names.
            lake: where a lake of this store lies, or shall; it is brought up afterwards, in one version.
            max_files: files that may be fetched of all URLs together.
            max_bytes: bytes of them; a mistaken URL does not fill a disk.
            max_time: seconds that fetching may take, however slowly a server answers.
            allow_private: let a web server redirect to this machine, or to a private network, from elsewhere.

        Returns:
            one report per source; a source that cannot be taken is ``refused`` with its error,
            and the rest goes on.

        Raises:
            MisuseError: a path that does not exist, a list in place of paths, an unknown format, or a value of
                ``model`` that would rename several models.
            MappingError: a mapping that is wrong in itself.
            InputError: a URL that cannot be reached, a frame without scores.
            StoreError: the server was lost, or the lake cannot be written; what was loaded until then
                stays, and the next call goes on from there.
        """
        from warehouse.analysis.repeats.joined import notes_on_joined
        from warehouse.ingest.discover import discover
        from warehouse.ingest.frames import is_frame, named, written
        from warehouse.ingest.pipeline import load
        from warehouse.ingest.remote import FetchLimits, fetched
        from warehouse.ingest.remote_hosts import is_url

        frames = [path for path in paths if is_frame(path)]
        files = [path for path in paths if isinstance(path, str | Path)]
        for other in paths:
            if not (isinstance(other, str | Path) or is_frame(other)):
                raise MisuseError(
                    f"ingest takes paths, URLs and frames, found {other!r:.60}; of a list: ingest(*paths)"
                )
        if not any(is_url(str(path)) for path in files):
            of_urls = {"max_files": max_files, "max_bytes": max_bytes, "max_time": max_time}
            refuse_given("is for what is fetched from URLs", LoadMethods.ingest, **of_urls, allow_private=allow_private)
        limits = FetchLimits(max_files, max_bytes, max_time, allow_private)
        with written(frames) as of_frames, fetched(files, limits=limits) as local, self._writing() as store:
            discovered = discover(
                [*local.paths, *of_frames],
                format=format,
                values=values,
                mapping=mapping,
                higher_is_better=higher_is_better,
                options=options,
                defaults=defaults,
                force=force,
            )
            sources = named(local.named(discovered), of_frames)
            report = load(store, sources, dry_run=dry_run, progress=progress, only=only, on=on, lake=lake)
            return report if dry_run else report.with_changed(notes_on_joined(store, report.joined_runs))

    def publish(self, path: str | Path, *, force: bool = False) -> PublishedCopy:
        """Write a read-only copy of the store, or replace an earlier one atomically.

        Args:
            path: file of the copy.
            force: also in place of a file that is no published copy, but never of a database or a source.

        Raises:
            MisuseError: the store is on a server, or ``path`` is the store itself or holds
                something that is no published copy.
            StoreError: the store cannot be read, or the copy not be written.
        """
        from warehouse.files import FORCE_IN_PYTHON
        from warehouse.store.snapshot import publish

        return publish(self.url, path, force=force, wait=self.wait, advice=FORCE_IN_PYTHON)

    def export_every_eval_ever(
        self, folder: str | Path, *, overwrite: bool = False, now: float | None = None
    ) -> EveryEvalEverReport:
        """Write the current runs as Every Eval Ever; see :mod:`warehouse.interchange`.

        Args:
            folder: where to; must not exist or be empty.
            overwrite: replace an earlier export that lies there.
            now: time that the files carry, in Unix seconds; None for the clock's.

        Raises:
            MisuseError: the folder holds something already, or there is no run to write.
        """
        import time

        from warehouse.interchange.every_eval_ever import export

        moment = time.time() if now is None else now
        with self._reading() as store:
            return export(store, Path(folder), now=moment, overwrite=overwrite)

    def export_inspect(self, folder: str | Path, *, overwrite: bool = False, now: float | None = None) -> InspectReport:
        """Write the current runs as logs of Inspect, one ``.eval`` for each.

        Args:
            folder: where to; must not exist or be empty.
            overwrite: replace an earlier export that lies there.
            now: time of runs that have none, in Unix seconds; None for the clock's.

        Raises:
            MisuseError: the folder holds something already, or there is no run with samples.
        """
        import time

        from warehouse.interchange.inspect_logs import export

        moment = time.time() if now is None else now
        with self._reading() as store:
            return export(store, Path(folder), now=moment, overwrite=overwrite)


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

        families = (families,) if isinstance(families, str) else families
        baselines = (baselines,) if isinstance(baselines, str) else baselines
        settings = FamilySettings(
            level=level, baselines=tuple(baselines), n_resamples=n_resamples, permutations=permutations, seed=seed
        )
        work = RefreshRequest(tuple(families), benchmarks, settings)
        return refresh(self._opener, work, wait=self.wait, progress=progress, lake=lake)

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
        """Write benchmarks as one HTML page that needs no network, or as a folder of pages.

        A benchmark that has no leaderboard or no pairs is shown with the reason.

        Args:
            out: file of the page (``.html``), or the folder; None: ``report.html``, or the folder ``report``.
            benchmarks: names, of suites too; none for all with current runs.
            split: write a folder: ``index.html``, and a page for each benchmark; False: one page; None: a folder above
                20 benchmarks or 3 MB, unless ``out`` names a file.
            jobs: processes that work side by side, for which a script needs ``if __name__ == "__main__":``; None: this
                one alone.
            force: also in place of a file that no earlier report is.
            level: nominal coverage of all intervals, in (0, 1).
            n_resamples: draws behind rank sets and simultaneous intervals; 0 leaves them out.
            seed: of the draws.
            each: ``"seed"`` or ``"checkpoint"``: these stand apart; None: one row a model.
            repeats: what becomes of runs of one condition: ``"auto"`` (by their test), ``"pool"``, ``"as_seeds"`` or
                ``"split"``.
            seeds_are: what a seed of a run is of: ``"training"`` or ``"sampling"``.
            progress: called with name, number done and number of all before each benchmark.

        Raises:
            MisuseError: an unknown benchmark, another word for rows, or a path that cannot be written.
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
            return write_report(reading, out, split=split, sections_by=by, force=force, known_as=known, advice=advice)


class LakeMethods(Connection):
    """What is done with lakes; :func:`warehouse.connect` with ``sail:?lake=…`` asks one."""

    def lake_sync(self, location: str, *, anew: bool = False) -> SyncReport:
        """Bring a lake up to what the store holds, in one version.

        Args:
            location: a folder, or a URL that the package ``deltalake`` takes (``s3://…``).
            anew: write every table as a whole: after damage, or from another store.

        Raises:
            MisuseError: the place holds something else, the lake was made from another store, or the
                extra ``lake`` is not installed.
            StoreError: the store is older than the lake, or the lake cannot be read or written.
        """
        from warehouse.store.lake.sync import sync

        with self._reading() as store:
            return sync(store, location, anew=anew)

    def check(self, *, deep: bool = False, progress: Callable[[float], object] | None = None) -> CheckReport:
        """Prove that schema and facts are what they should be, as `warehouse db check`.

        Args:
            deep: work out keys, digests, counts and text hashes of all runs anew from what is stored, too.
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

    def lake_vacuum(self, location: str, *, older_than: timedelta = timedelta(days=7)) -> VacuumReport:
        """Remove old versions of a lake, but never the newest, and join small files.

        Args:
            location: of the lake.
            older_than: versions go that were replaced longer ago.

        Raises:
            MisuseError: a negative age.
            StoreError: there is no lake, it cannot be read or written, or a sync is under way.
        """
        from warehouse.store.lake.versions import vacuum

        return vacuum(location, older_than=older_than)
