"""What is said of each source of a load."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.records import SameContent
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


def note_unscored(scratch: Scratch, state: _Load) -> None:
    """A note to each source with runs of which no sample has a score."""
    rows = scratch.rows(query_text("ingest", "unscored_runs"))
    for part in state.parts if rows else ():
        unscored = [(n, statuses) for run, n, statuses in rows if run in part.runs]
        if unscored:
            count = sum(n for n, _ in unscored)
            words = sorted({word for _, statuses in unscored if statuses for word in statuses.split(", ")})
            runs = f" of {len(unscored)} runs" if len(part.runs) > 1 else ""
            why = f": {', '.join(words)}" if words else ""
            part.dump.notes.append(f"none of {count} samples{runs} has a score{why}")


#: By how much two standard errors differ, at least, to be told of where ids say which prompts are the same.
_TELLING = 1.05


def note_same_content(scratch: Scratch, state: _Load) -> None:
    """A note to each source of which rows of one run hold the same content: what they are taken for, and what the
    figures rest on if they are the other."""
    for part in state.parts:
        same = part.dump.same_content
        if same is None or not part.runs:
            continue
        runs = ", ".join(map(str, part.runs))
        text = query_text("ingest", "same_content").format(runs=runs, place="r" if same.are_draws else "prompt_id")
        found = [_Counts(*row) for row in scratch.rows(text)]
        if same.by_id:
            found = [counts for counts in found if (counts.se_contents or 0) > _TELLING * (counts.se_places or 0)]
        if found:
            part.dump.notes.append(_two_readings(same, found[0], len({counts.run for counts in found})))


@dataclass(frozen=True)
class _Counts:
    """A row of ``same_content.sql``."""

    run: int
    metric: str
    n_places: int
    n_contents: int
    se_places: float | None
    se_contents: float | None


def _two_readings(same: SameContent, counts: _Counts, n_runs: int) -> str:
    draws = f"draws of {_prompts(counts.n_contents)}{_error(counts.metric, counts.se_contents)}"
    apart = f"{_prompts(counts.n_places)}{_error(counts.metric, counts.se_places)}"
    several = f" (the first of {n_runs} such runs)" if n_runs > 1 else ""
    questions = f"different question{'s' * (counts.n_contents > 1)}"
    found = f"{counts.n_places} rows hold {counts.n_contents} {questions}{several}: taken for"
    if same.are_draws:
        return f'{found} {draws}, by {same.key}; [sample] position = "@index" tells them apart: {apart}'
    by = "ids" if same.by_id else "place"
    return f"{found} {apart}, told apart by {by}; {same.key} in a mapping takes them for {draws}"


def _prompts(count: int) -> str:
    return f"{count} prompt{'s' * (count > 1)}"


def _error(metric: str, error: float | None) -> str:
    return "" if error is None else f" ({metric} ± {error:.3g})"


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
