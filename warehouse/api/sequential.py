"""Methods that decide as soon as an answer is settled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.analysis.sequential.question import SequentialSettings
from warehouse.api.connection import Connection

if TYPE_CHECKING:
    from warehouse.analysis.sequential.view import SequentialRow


class SequentialMethods(Connection):
    """Decide as soon as the answer is settled (`docs/stopping.md`)."""

    def follow_gate(
        self,
        log: str | Path,
        candidate: str,
        baseline: str,
        margin: float,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        n_max: int | None = None,
        alpha: float = 0.05,
        seed: int = 0,
        looks: int | None = None,
        use_history: bool = True,
        latest: bool = False,
        force: bool = False,
        format: str | None = None,
        values: Mapping[str, Any] | None = None,
        mapping: str | Path | None = None,
        pause: Callable[[], bool] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> Iterator[SequentialRow]:
        """Follow a log that is being written until the verdict is there; the store
        stays as it is.

        Args:
            log: file of any format that `ingest` reads; it need not be there yet.
            candidate: reference of the model in the log.
            baseline: reference of a model of the store that has all scores of the
                benchmark.
            margin: loss that is tolerated, from 0, in the unit of the metric.
            benchmark: its name in the store; None: as the log calls it.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs of the baseline.
            n_max: the most prompts that are used; None: all.
            alpha: chance of a wrong verdict, both sides together, in (0, 1).
            seed: of the order of the prompts.
            looks: None: after every prompt; a number: O'Brien and Fleming's bounds at
                so many looks.
            use_history: predict scores by other models of the store, besides the
                baseline.
            latest: where the baseline means several conditions, take the one that ran
                last.
            force: compare what differs in judge, metric scale or task version.
            format: importer of the log; None: found by content.
            values: header fields that hold whatever the log says.
            mapping: mapping file of a tabular log.
            pause: waits between two looks, and says whether to go on; None: two
                seconds, for ever.
            say: told why the log cannot be judged yet, when that changes.

        Yields:
            the row at each change, the last with the verdict or with ``n_max`` prompts.

        Raises:
            MisuseError: a baseline that lacks scores or that the log must not be
                compared with.
            StatisticsError: a number out of range.
        """
        from warehouse.analysis.selection.selection import Selection, as_conditions
        from warehouse.analysis.sequential.answer import Follower

        settings = SequentialSettings(
            margin,
            n_max=n_max,
            alpha=alpha,
            seed=seed,
            looks=looks,
            use_history=use_history,
        )
        selection = Selection(benchmark, metric, as_conditions(where), latest=latest)
        follower = Follower(
            self._opener, candidate, baseline, settings, selection, force
        )
        reading = {"format": format, "values": values, "mapping": mapping}
        before, announced = None, ""
        for _ in _changes(Path(log), pause or _two_seconds):
            row, why = _read(follower, Path(log), reading)
            if row is None:
                if say is not None and why != announced:
                    say(why)
                announced = why
                continue
            if before is None or row.state != before:
                yield row
            before = row.state
            if not row.is_open:
                return


def _two_seconds() -> bool:
    time.sleep(2)
    return True


def _changes(log: Path, go_on: Callable[[], bool]) -> Iterator[None]:
    """Comes back whenever the file is another than before."""
    last_stamp: tuple[int, int] | None = None
    while True:
        try:
            status = log.stat()
            stamp = status.st_size, status.st_mtime_ns
        except OSError:
            stamp = None
        if stamp is not None and stamp != last_stamp:
            last_stamp = stamp
            yield
        if not go_on():
            return


def _read(
    follower: Any, log: Path, reading: Mapping[str, Any]
) -> tuple[SequentialRow | None, str]:
    """The row of the log as it is now, or why there is none yet."""
    from warehouse.analysis.sequential.answer import NothingYet
    from warehouse.errors import InputError
    from warehouse.ingest.pipeline import ingest
    from warehouse.store.load.state import LoadOptions
    from warehouse.store.open import open_store
    from warehouse.store.temporary import temporary_folder

    options = LoadOptions(
        max_rejected=1, text="none"
    )  # the last row may be half written
    with (
        temporary_folder() as folder,
        open_store(str(folder / "log.db"), create=True) as store,
    ):
        try:
            report = ingest(store, [log], options=options, **reading)
        except InputError as error:
            return None, str(error)
        if not any(item.state == "loaded" for item in report.sources):
            reasons = [item.error for item in report.refused] or [
                str(item) for item in report.unread
            ]
            return None, "; ".join(reasons) or f"nothing can be read from {log} yet"
        if not store.arrow("select run_id from run_current limit 1").num_rows:
            return None, f"nothing can be read from {log} yet"
        try:
            return follower.row(store), ""
        except NothingYet as error:
            return None, str(error)
