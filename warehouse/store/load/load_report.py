"""What is said of each source of a load."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from warehouse.records.credentials import masked
from warehouse.store.load.conflicts import Decision
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import LoadReport, Part, _Load
from warehouse.store.sql.query_files import query_text


def note_values_that_are_no_numbers(scratch: Scratch, state: _Load) -> None:
    """A note to each source that has infinite values, lists or words for scores."""
    rows = scratch.rows(query_text("ingest", "not_numbers"))
    for part in state.parts if rows else ():
        counts: Counter[str] = Counter()
        for run, metric, n in rows:
            counts[metric] += n if run in part.runs else 0
        part.dump.notes += [
            f"{n} {'values' if n > 1 else 'value'} of {metric!r}, no finite number: kept as text, unscored"
            for metric, n in counts.items()
            if n
        ]


def report_of(
    state: _Load, part: Part, all_decisions: Sequence[Decision], run_ids: dict[int, int], started: float
) -> LoadReport:
    """What became of one source."""
    decisions = [all_decisions[run] for run in part.runs]
    fresh = [item for item in decisions if item.action == "new"]
    measured = [state.measured[item.run] for item in fresh if item.run in state.measured]
    notes = list(dict.fromkeys(map(masked, [*part.dump.notes, *state.notes])))
    notes += [item.note for item in decisions if item.note]
    return LoadReport(
        source=part.source.path,
        state="loaded",
        n_runs=len(fresh),
        n_seen_again=sum(item.action == "seen" for item in decisions),
        n_superseded=sum(bool(item.supersedes or item.superseded_by) for item in fresh),
        n_repeats=sum(item.repeat for item in fresh),
        n_samples=sum(item.n_prompts for item in measured),
        n_scores=sum(item.n_scores for item in measured),
        n_rejected=len(part.dump.rejections),
        run_ids=tuple(run_ids[item.run] for item in fresh),
        notes=tuple(notes),
        seconds=round((time.monotonic() - started) / len(state.parts), 3),
        source_id=part.source.id,
    )
