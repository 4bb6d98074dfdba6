"""Methods that load into a store, and write it elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.api.connection import Connection, refuse_given
from warehouse.errors import MisuseError
from warehouse.questions.saying import in_python_words

if TYPE_CHECKING:
    from warehouse.ingest.file_rules import FileRules
    from warehouse.ingest.progress import IngestProgress
    from warehouse.ingest.report import IngestReport
    from warehouse.interchange.every_eval_ever import EveryEvalEverReport
    from warehouse.interchange.inspect_logs import InspectReport
    from warehouse.store.load.state import LoadOptions
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
        rules: FileRules | None = None,
        max_files: int = 10_000,
        max_bytes: int = 20_000_000_000,
        max_time: float = 7200.0,
        allow_private: bool = False,
    ) -> IngestReport:
        """Load every dump found under some paths.

        Args:
            paths: files or folders; folders are walked. Also URLs (``hf://``,
                ``s3://``, ``https://`` …), which are fetched first (extra ``remote``),
                frames of pandas or polars, and Arrow tables, one row for each prompt
                (and model, and draw): they are read as the Parquet file would be that
                they make, so equal frames are one source.
            format: name of an importer; None for whichever recognises a file.
            values: header fields that hold whatever the dumps say (``{"temperature":
                0.7}``).
            mapping: a mapping file for tabular dumps, or the name of a shipped one.
            higher_is_better: direction of the metrics of which a dump says none.
            options: what to do about conflicts, duplicates and bad rows.
            defaults: header fields for what the dumps leave empty (``{"model":
                "org/name"}``).
            force: file the runs of several named models under the one that ``values``
                names.
            dry_run: read and check everything, store nothing.
            progress: called as sources and rows go by.
            only: called with the files of each source, whether to load it; None for
                all.
            on: a server whose executors read the dumps: ``sc://HOST:PORT`` (Spark
                Connect), or ``sail:`` for one in this process; None for this process.
                They have the same version of this package, and see the files under the
                same names.
            lake: where a lake of this store lies, or shall; it is brought up
                afterwards, in one version.
            rules: which mapping reads which files, by patterns of paths, and which hold no
                results (:class:`warehouse.ingest.file_rules.FileRules`).
            max_files: files that may be fetched of all URLs together.
            max_bytes: bytes of them; a mistaken URL does not fill a disk.
            max_time: seconds that fetching may take, however slowly a server answers.
            allow_private: let a web server redirect to this machine, or to a private
                network, from elsewhere.

        Returns:
            one report per source; a source that cannot be taken is ``refused`` with its
            error, and the rest goes on.

        Raises:
            MisuseError: a path that does not exist, a list in place of paths, an
                unknown format, or a value of ``model`` that would rename several
                models.
            MappingError: a mapping that is wrong in itself.
            InputError: a URL that cannot be reached, a frame without scores.
            StoreError: the server was lost, or the lake cannot be written; what was
                loaded until then stays, and the next call goes on from there.
        """
        from warehouse.analysis.board.published_notes import notes_on_published
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
                    f"ingest takes paths, URLs and frames, found {other!r:.60}; of a "
                    "list: ingest(*paths)"
                )
        if not any(is_url(str(path)) for path in files):
            of_urls = {
                "max_files": max_files,
                "max_bytes": max_bytes,
                "max_time": max_time,
            }
            refuse_given(
                "is for what is fetched from URLs",
                LoadMethods.ingest,
                **of_urls,
                allow_private=allow_private,
            )
        limits = FetchLimits(max_files, max_bytes, max_time, allow_private)
        with (
            written(frames) as of_frames,
            fetched(files, limits=limits) as local,
            self._writing() as store,
        ):
            discovered = discover(
                [*local.paths, *of_frames],
                format=format,
                values=values,
                mapping=mapping,
                higher_is_better=higher_is_better,
                options=options,
                defaults=defaults,
                force=force,
                rules=rules,
            )
            sources = named(local.named(discovered), of_frames)
            report = load(
                store,
                sources,
                dry_run=dry_run,
                progress=progress,
                only=only,
                on=on,
                lake=lake,
            )
            if not dry_run:
                report = report.with_changed(notes_on_joined(store, report.joined_runs))
                report = report.with_notes(notes_on_published(store, report.new_runs))
            return report.said_by(in_python_words)

    def publish(self, path: str | Path, *, force: bool = False) -> PublishedCopy:
        """Write a read-only copy of the store, or replace an earlier one atomically.

        Args:
            path: file of the copy.
            force: also in place of a file that is no published copy, but never of a
                database or a source.

        Raises:
            MisuseError: the store is on a server, or ``path`` is the store itself or
                holds something that is no published copy.
            StoreError: the store cannot be read, or the copy not be written.
        """
        from warehouse.files import FORCE_IN_PYTHON
        from warehouse.store.snapshot import publish

        return publish(
            self.url, path, force=force, wait=self.wait, advice=FORCE_IN_PYTHON
        )

    def export_every_eval_ever(
        self, folder: str | Path, *, overwrite: bool = False, now: float | None = None
    ) -> EveryEvalEverReport:
        """Write the current runs as Every Eval Ever; see :mod:`warehouse.interchange`.

        Args:
            folder: where to; must not exist or be empty.
            overwrite: replace an earlier export that lies there.
            now: time that the files carry, in Unix seconds; None for the clock's.

        Raises:
            MisuseError: the folder holds something already, or there is no run to
                write.
        """
        import time

        from warehouse.interchange.every_eval_ever import export

        moment = time.time() if now is None else now
        with self._reading() as store:
            return export(store, Path(folder), now=moment, overwrite=overwrite)

    def export_inspect(
        self, folder: str | Path, *, overwrite: bool = False, now: float | None = None
    ) -> InspectReport:
        """Write the current runs as logs of Inspect, one ``.eval`` for each.

        Args:
            folder: where to; must not exist or be empty.
            overwrite: replace an earlier export that lies there.
            now: time of runs that have none, in Unix seconds; None for the clock's.

        Raises:
            MisuseError: the folder holds something already, or there is no run with
                samples.
        """
        import time

        from warehouse.interchange.inspect_logs import export

        moment = time.time() if now is None else now
        with self._reading() as store:
            return export(store, Path(folder), now=moment, overwrite=overwrite)
