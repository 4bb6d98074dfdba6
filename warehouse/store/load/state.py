"""The state that the steps of a load share: options, the source's claim, counts, the
report."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal

from warehouse.errors import InputError
from warehouse.records import (
    Dump,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SameContent,
)
from warehouse.records.credentials import masked
from warehouse.records.settings import RunSettings, settings_of
from warehouse.store.load.decisions import Decision, OnConflict
from warehouse.store.load.measures import Measured, ScoreSummary
from warehouse.store.load.metric_statements import described
from warehouse.store.load.parts import SourceClaim as SourceClaim
from warehouse.store.load.parts import SourcePart as SourcePart
from warehouse.store.load.run_keys import spec_of
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.staging import OnDuplicate, TextPolicy
from warehouse.store.load.statements import Statement
from warehouse.store.sql.query_files import query_text

if TYPE_CHECKING:
    from warehouse.store.load.kept_words import KeptWords


@dataclass(frozen=True)
class LoadOptions:
    """The user's choices about conflicts, duplicates, faults and texts."""

    on_conflict: OnConflict = "error"
    on_duplicate: OnDuplicate = "error"
    max_rejected: int = 0
    text: TextPolicy = "all"
    cluster_by: tuple[str, ...] = ()  # document fields to cluster the prompts by
    beside: bool = False  # keep what the same bytes were read as before


@dataclass(frozen=True)
class LoadReport:
    """The outcome of one source."""

    source: str
    state: Literal["loaded", "unchanged", "refused"]
    n_runs: int = 0
    n_seen_again: int = 0
    n_superseded: int = 0
    n_repeats: int = 0
    n_samples: int = 0
    n_scores: int = 0
    n_votes: int = 0
    n_rejected: int = 0
    run_ids: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()  # of the notes those on what may be read in two ways
    assumed: tuple[str, ...] = ()  # of the notes those on what nobody has said
    seconds: float = 0.0
    error: str = ""
    source_id: int | None = None
    n_files: int = 1  # that the source is made of


class NotTogetherError(InputError):
    """Sources that have to be loaded one by one, since one of them changes what becomes
    of another, or to tell which of them something is true of. Nothing of them has been
    stored."""


@dataclass
class _Load:
    """State of one load, handed from step to step. ``dump`` holds the runs of all
    parts, ``sizes`` the number of rows of tables in the scratch space, so that nothing
    is asked of an empty one."""

    dump: Dump
    parts: list[SourcePart]
    options: LoadOptions
    references: list[dict[str, int]] = field(default_factory=list)
    measured: dict[int, Measured] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    scores: list[ScoreSummary] = field(default_factory=list)
    metric_ids: dict[MetricSpec, int] = field(default_factory=dict)
    benchmark_ids: dict[str, int] = field(default_factory=dict)
    # how many are stored of each part
    votes: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    # of the notes those on what may be read in two ways
    doubtful: set[str] = field(default_factory=set)
    # of its sources, other than what stands
    statements: list[Statement] = field(default_factory=list)
    new_prompts: int = 0
    first_new_prompt: int | None = None  # id of the first of them; the others follow
    n_rows: int = 0
    columns: Collection[str] = ()  # of samples, that may hold anything
    are_apart: bool = False  # whether each sample has a prompt of its own in its run
    has_all_texts: bool = False  # whether the store holds all that was sent and said
    words: KeptWords | None = None  # what people said of what this load replaces

    @cached_property
    def settings(self) -> list[RunSettings]:
        """Settings of each run, as its header tells how it was made."""
        return [settings_of(header) for header in self.dump.runs]

    def add_marks(self, marks: Mapping[int, Mapping[str, str]]) -> None:
        """Add what the samples of runs say of their execution; what the headers say
        goes before."""
        for run, of_samples in marks.items():
            own = self.settings[run]
            self.settings[run] = replace(own, marks={**of_samples, **own.marks})

    def part_of(self, run: int) -> SourcePart:
        """The part that a run is of."""
        return self.parts[
            bisect_right(self.parts, run, key=lambda part: part.runs.start) - 1
        ]

    def note(self, text: str) -> None:
        """Add a note on the single source that all rows belong to.

        Raises:
            NotTogetherError: they are of several.
        """
        if len(self.parts) > 1:
            raise NotTogetherError(text)
        self.notes.append(text)


@dataclass(frozen=True)
class Parsed:
    """Rows of some dumps, staged in one of the scratch space's two slots."""

    dumps: tuple[Dump, ...]
    slot: int
    n_rows: int
    columns: Collection[str] = ()  # of samples, that may hold anything


def group_spec(dump: Dump, row: PublishedScore) -> MetricSpec:
    """Specification for a figure of a group: that of any run which has the metric."""
    for header in dump.runs:
        spec = spec_of(header, row.metric, row.filter)
        if spec in header.metrics:
            return spec
    return MetricSpec(name=row.metric, filter=row.filter)


#: What becomes of a value that is no finite number.
_WHY_TEXT = {
    "infinite": (
        "infinite: kept as text, and such in every figure, so that the mean is infinite"
    ),
    "no_score": (
        "infinite where no score can be: kept as text, unscored, as a missing one is"
    ),
    "not_a_number": "no number: kept as text, unscored",
    "too_large": "1e140 or more, too large to calculate with: kept as text, unscored",
}


def note_values_that_are_no_numbers(scratch: Scratch, state: _Load) -> None:
    """A note to each source that has infinite values, lists or words for scores."""
    if not any(item.n_texts for item in state.scores):
        return
    rows = scratch.rows(query_text("ingest", "not_numbers"))
    finite = _never_infinite(state) if rows else set()
    for part in state.parts if rows else ():
        counts: Counter[tuple[str, str]] = Counter()
        first: dict[tuple[str, str], str] = {}
        for run, metric_id, metric, why, n, item in rows:
            if run not in part.runs:
                continue
            if why == "infinite" and (run, metric_id) in finite:
                why = "no_score"
            counts[metric, why] += n
            model = state.dump.runs[run].model
            first.setdefault((metric, why), f"prompt {item} of {model}")
        part.dump.notes += [
            f"{n} {'values' if n > 1 else 'value'} of {metric!r}, {_WHY_TEXT[why]} "
            f"({first[metric, why]})"
            for (metric, why), n in counts.items()
            if n
        ]


def _never_infinite(state: _Load) -> set[tuple[int, int]]:
    """Runs and metrics of which no score can be infinite: they are 0 or 1, or lie
    between declared bounds (the view ``infinite_score``)."""
    specs = {metric_id: spec for spec, metric_id in state.metric_ids.items()}
    found = set()
    for item in state.scores:
        spec = specs.get(item.metric_id)
        if spec is None:
            continue
        seen = None
        if item.low is not None and item.high is not None:
            seen = (item.low, item.high, item.is_binary)
        said = described(spec, seen)
        has_bounds = said["kind"] == "bounded" and not said["is_inferred"]
        if said["kind"] == "binary" or has_bounds:
            found.add((item.run, item.metric_id))
    return found


def note_unscored(scratch: Scratch, state: _Load) -> None:
    """A note to each source with runs of which no sample has a score."""
    if len({item.run for item in state.scores if item.n_values}) == len(
        state.dump.runs
    ):
        return
    rows = scratch.rows(query_text("ingest", "unscored_runs"))
    for part in state.parts if rows else ():
        unscored = [(n, statuses) for run, n, statuses in rows if run in part.runs]
        if unscored:
            count = sum(n for n, _ in unscored)
            words: set[str] = set()
            for _, statuses in unscored:
                if statuses:
                    words.update(statuses.split(", "))
            runs = ""
            if len(part.runs) > 1:
                runs = f" of {len(unscored)} runs"
            why = ""
            if words:
                why = f": {', '.join(sorted(words))}"
            part.dump.notes.append(f"none of {count} samples{runs} has a score{why}")


#: By how much two standard errors differ, at least, to be told of where ids say which
#: prompts are the same.
_TELLING = 1.05


def note_same_content(scratch: Scratch, state: _Load) -> None:
    """A note to each source of which rows of one run hold the same content: what they
    are taken for, and what the figures rest on if they are the other."""
    for part in state.parts:
        same = part.dump.same_content
        if same is None or not part.runs:
            continue
        runs = ", ".join(map(str, part.runs))
        if not (
            same.are_draws
            or scratch.value(query_text("ingest", "shared_content").format(runs=runs))
        ):
            continue
        text = query_text("ingest", "same_content").format(
            runs=runs, place="r" if same.are_draws else "prompt_id"
        )
        found = [_Counts(*row) for row in scratch.rows(text)]
        if same.by_id:
            found = [
                counts
                for counts in found
                if (counts.se_contents or 0) > _TELLING * (counts.se_places or 0)
            ]
        if found:
            note = _two_readings(same, found[0], len({counts.run for counts in found}))
            part.dump.notes.append(note)
            state.doubtful.add(note)


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
    draws = (
        "draws of "
        f"{_prompts(counts.n_contents)}{_error(counts.metric, counts.se_contents)}"
    )
    apart = f"{_prompts(counts.n_places)}{_error(counts.metric, counts.se_places)}"
    several = ""
    if n_runs > 1:
        several = f" (the first of {n_runs} such runs)"
    questions = "different question"
    if counts.n_contents > 1:
        questions = "different questions"
    found = (
        f"{counts.n_places} rows hold {counts.n_contents} {questions}{several}: taken "
        "for"
    )
    if same.are_draws:
        return (
            f'{found} {draws}, by {same.key}; [sample] position = "@index" tells them '
            f"apart: {apart}"
        )
    by = "place"
    if same.by_id:
        by = "ids"
    return (
        f"{found} {apart}, told apart by {by}; {same.key} in a mapping takes them for "
        f"{draws}"
    )


def _prompts(count: int) -> str:
    if count > 1:
        return f"{count} prompts"
    return f"{count} prompt"


def _error(metric: str, error: float | None) -> str:
    if error is None:
        return ""
    return f" ({metric} ± {error:.3g})"


#: Of more runs of a source is told how many they are.
NOTES_ON_RUNS = 5


def report_of(
    state: _Load,
    number: int,
    all_decisions: Sequence[Decision],
    run_ids: dict[int, int],
    started: float,
) -> LoadReport:
    """Report on the source that is the part of this number."""
    part = state.parts[number]
    decisions = [all_decisions[run] for run in part.runs]
    fresh = [item for item in decisions if item.action == "new"]
    measured = [
        state.measured[item.run] for item in fresh if item.run in state.measured
    ]
    every = [*part.dump.notes, *state.notes]
    notes = list(dict.fromkeys(map(masked, every)))
    assumed = dict.fromkeys(map(masked, part.dump.assumed))
    told = [item.note for item in decisions if item.note]
    doubtful = [note for note in notes if note in state.doubtful]
    doubtful += [item.note for item in decisions if item.note and item.is_doubtful][
        :NOTES_ON_RUNS
    ]
    notes += told[:NOTES_ON_RUNS]
    if len(told) > NOTES_ON_RUNS:
        notes.append(f"{len(told) - NOTES_ON_RUNS} more such runs")
    return LoadReport(
        source=part.source.path,
        state="loaded",
        n_runs=len(fresh),
        n_seen_again=sum(item.action == "seen" for item in decisions),
        n_superseded=sum(bool(item.supersedes or item.superseded_by) for item in fresh),
        n_repeats=sum(item.repeat for item in fresh),
        n_samples=sum(item.n_prompts for item in measured),
        n_scores=sum(item.n_scores for item in measured),
        n_votes=state.votes.get(number, 0),
        n_rejected=len(part.dump.rejections),
        run_ids=tuple(run_ids[item.run] for item in fresh),
        notes=tuple(notes),
        doubtful=tuple(doubtful),
        assumed=tuple(assumed),
        seconds=round((time.monotonic() - started) / len(state.parts), 3),
        source_id=part.source.id,
    )


def state_of(
    parsed: Parsed, sources: Sequence[SourceClaim], options: LoadOptions
) -> _Load:
    """What some sources bring together, before anything of it is known."""
    parts = _parts(parsed.dumps, sources)
    headers: list[RunHeader] = []
    for part in parts:
        headers += part.dump.runs
    return _Load(
        Dump(tuple(headers), ()),
        parts,
        options,
        n_rows=parsed.n_rows,
        columns=parsed.columns,
    )


def _parts(dumps: Sequence[Dump], sources: Sequence[SourceClaim]) -> list[SourcePart]:
    ends = list(accumulate((len(dump.runs) for dump in dumps), initial=0))
    return [
        SourcePart(dump, source, range(*runs))
        for dump, source, runs in zip(dumps, sources, pairwise(ends), strict=True)
    ]
