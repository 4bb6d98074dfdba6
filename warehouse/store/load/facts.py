"""The facts of new runs, written in one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from warehouse.records import RunHeader, RunStatus
from warehouse.records.answer_text import readable
from warehouse.records.canonical_json import canonical_digest
from warehouse.records.credentials import masked
from warehouse.records.run_fields import STORED_FIELDS
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate import field_clusters
from warehouse.store.load import executions, run_tags
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.chains import supersede
from warehouse.store.load.decisions import Decision
from warehouse.store.load.dimensions import allocate
from warehouse.store.load.measures import Measured
from warehouse.store.load.run_keys import (
    execution_key,
    scorers_key,
    spec_of,
    stored_marks,
)
from warehouse.store.load.scratch import ROWS_OF_A_GROUP, Scratch
from warehouse.store.load.staging import TRANSCRIPT
from warehouse.store.load.state import _Load
from warehouse.store.load.statements import NO_WORDS, TRANSCRIPTS, plain, statement
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

if TYPE_CHECKING:
    from warehouse.store.load.state import SourcePart


#: Places where a file ends inside a row, each with the files of runs that it names.
Cuts = list[tuple[str, set[str]]]


def fingerprints(scratch: Scratch) -> list[tuple[int, str]]:
    """Order-free fingerprint of the prompt set of each benchmark that has new prompts."""
    rows = scratch.rows(query_text("ingest", "fingerprint"))
    return [
        (benchmark_id, canonical_digest([n, total])) for benchmark_id, n, total in rows
    ]


def insert_runs(
    connection: sa.Connection,
    state: _Load,
    fresh: Sequence[Decision],
    run_ids: Mapping[int, int],
) -> None:
    """Rows of ``run``."""
    cuts = {part.runs.start: _cuts(part) for part in state.parts}
    append(
        connection,
        tables.run,
        [_run_row(state, cuts, decision, run_ids[decision.run]) for decision in fresh],
    )


def _run_row(
    state: _Load, cuts: Mapping[int, Cuts], decision: Decision, run_id: int
) -> dict[str, Any]:
    header = state.dump.runs[decision.run]
    settings = state.settings[decision.run]
    if decision.run not in state.measured:
        settings = settings.of_figures_alone()
    measured = state.measured.get(decision.run, Measured("", 0, 0, 0, 0))
    status, reason = _status(
        header,
        measured.n_prompts,
        _cut(cuts[state.part_of(decision.run).runs.start], header.place),
    )
    return {
        **state.references[decision.run],
        **{name: getattr(header, name) for name in STORED_FIELDS},
        "id": run_id,
        "sampling": dict(header.sampling) or None,
        "configuration": dict(header.configuration) or None,
        "tags": sorted(set(header.tags)) or None,
        "scorers_key": scorers_key(header),
        "n_found": measured.n_prompts,
        "n_generations": measured.n_generations,
        "n_choices": measured.n_choices,
        "n_scores": measured.n_scores,
        "status": status,
        "status_reason": reason,
        "superseded_by": decision.superseded_by,
        "condition_key": decision.condition_key,
        "recorded_key": decision.recorded_key,
        "execution_key": execution_key(decision.marks),
        "settings": dict(settings.settings),
        "marks": stored_marks(decision.marks),
        "versions": dict(settings.versions) or None,
        "bytes_key": state.part_of(decision.run).source.bytes_key(header.place),
        "run_key": decision.run_key,
        "content_digest": decision.content_digest,
    }


def complete_marks(connection: sa.Connection, decisions: Sequence[Decision]) -> None:
    """Give stored runs the marks that a source has of the same execution beyond their
    own; what the sources before it had said of them is kept."""
    table = tables.run
    again = {
        decision.same_as: decision
        for decision in decisions
        if decision.same_as is not None
    }
    if not again:
        return
    query = sa.select(table.c.id, table.c.execution_key, table.c.marks).where(
        table.c.id.in_(list(again))
    )
    before = {stored.id: stored for stored in connection.execute(query)}
    keys = {run_id: execution_key(again[run_id].marks) for run_id in before}
    changed = [
        run_id for run_id in before if keys[run_id] != before[run_id].execution_key
    ]
    if not changed:
        return
    executions.keep_words(
        connection, {run_id: before[run_id].marks for run_id in changed}
    )
    for run_id in changed:
        values = {
            "execution_key": keys[run_id],
            "marks": stored_marks(again[run_id].marks),
        }
        change = sa.update(table).where(table.c.id == run_id)
        connection.execute(change.values(values))


def _tell_tags(
    connection: sa.Connection,
    state: _Load,
    decisions: Sequence[Decision],
    run_ids: Mapping[int, int],
) -> None:
    """Keep the tags that each source gives its runs, and give them to runs that another
    source has brought."""
    told: dict[tuple[int, int], set[str]] = defaultdict(set)
    seen: dict[int, set[str]] = defaultdict(set)
    for decision in decisions:
        tags = state.dump.runs[decision.run].tags
        if not tags or decision.action == "skip":
            continue
        run_id = decision.stored_as(run_ids)
        told[state.part_of(decision.run).source.id, run_id].update(tags)
        if decision.action == "seen":
            seen[run_id].update(tags)
    if seen:
        run_tags.give(connection, seen)
    for (source_id, run_id), given in told.items():
        state.statements.append(
            statement(source_id, run_tags.OF_SOURCE, run_id, sorted(given))
        )


def state_words_on_runs(
    connection: sa.Connection,
    state: _Load,
    decisions: Sequence[Decision],
    run_ids: Mapping[int, int],
) -> None:
    """Store the words of sources on runs that another source has given, other than what
    stands, and what the one has said of the marks of a run that another has completed:
    the first gives the row of a run. Its tags are those of all sources."""
    _tell_tags(connection, state, decisions, run_ids)
    words = _last_words(state, decisions, run_ids)
    if not words:
        return
    cuts = {part.runs.start: _cuts(part) for part in state.parts}
    run = tables.run
    ids = sorted({run_id for _, run_id in words})
    query = sa.select(run).where(run.c.id.in_(ids))
    rows = connection.execute(query).mappings()
    standing = {row["id"]: row for row in rows}
    for (source_id, run_id), own in words.items():
        stored = standing[run_id]
        row = _run_row(state, cuts, own, run_id)
        said = {
            name: plain(value)
            for name, value in row.items()
            if name not in NO_WORDS and plain(value) != plain(stored[name])
        }
        if stored["status"] == "invalidated":
            said = {
                name: value
                for name, value in said.items()
                if name not in ("status", "status_reason")
            }
        if said:
            state.statements.append(statement(source_id, "run", run_id, said))


def _last_words(
    state: _Load, decisions: Sequence[Decision], run_ids: Mapping[int, int]
) -> dict[tuple[int, int], Decision]:
    """For each source and each run that several of this load, or one before it, have
    given: the last decision on it, with all marks that the source itself has."""
    given_by = {
        run_ids[item.run]: state.part_of(item.run).source.id
        for item in decisions
        if item.run in run_ids
    }
    words: dict[tuple[int, int], Decision] = {}
    completed: set[int] = set()
    for decision in decisions:
        if decision.action != "seen":
            continue
        run_id = decision.stored_as(run_ids)
        source_id = state.part_of(decision.run).source.id
        if given_by.get(run_id) == source_id:
            continue
        if run_id in given_by:
            completed.add(run_id)
        own = words.get((source_id, run_id))
        earlier = own.marks if own else {}
        marks = {**state.settings[decision.run].marks, **earlier}
        words[source_id, run_id] = replace(decision, marks=marks)
    for decision in decisions:
        if decision.run in run_ids and run_ids[decision.run] in completed:
            run_id = run_ids[decision.run]
            words[given_by[run_id], run_id] = replace(
                decision, marks=_own_marks(state, decision, decisions)
            )
    return words


def _own_marks(
    state: _Load, first: Decision, decisions: Sequence[Decision]
) -> dict[str, str]:
    """The marks of a run in the words of the source that gave it, which may hold it at
    several places."""
    part = state.part_of(first.run)
    marks = dict(state.settings[first.run].marks)
    for decision in decisions:
        if decision.same_in_dump == first.run and decision.run in part.runs:
            marks = {**state.settings[decision.run].marks, **marks}
    return marks


def _cuts(part: SourcePart) -> Cuts:
    """Where files of a source end inside a row, and the files of runs that each place
    names."""
    files = {header.place for header in part.dump.runs if header.place}
    locations = [item.place for item in part.dump.rejections if item.is_cut]
    cuts: list[tuple[str, set[str]]] = []
    for location in locations:
        cuts.append((location, {name for name in files if name in location}))
    return cuts


def _cut(cuts: Cuts, own: str) -> str | None:
    """Where a file of a run ends inside a row, if one does: of the run's own file,
    where the header names it, else of any file of the source."""
    return next(
        (location for location, named in cuts if not named or own in named), None
    )


def _status(
    header: RunHeader, n_found: int, cut: str | None
) -> tuple[RunStatus, str | None]:
    """A run with fewer prompts than it declares is truncated, and one whose file was
    cut short."""
    declared = header.n_requested
    if header.status == "complete" and cut is not None:
        return "truncated", f"{cut}: the file ends inside a row"
    if (
        header.status == "complete"
        and n_found
        and declared is not None
        and n_found < declared
    ):
        return "truncated", f"{n_found} prompts found, {declared} declared"
    return header.status, None


#: (table, columns that stand under the same name in its scratch table, order of the
#: rows)
_PUSHED = (
    (
        "generation",
        "prompt_id, variant_id, draw, prompt_hash, response_hash, extracted_answer, "
        "finish_reason, input_tokens, output_tokens, latency, cost, error, explanation",
        "run_id, prompt_id, variant_id, draw",
    ),
    (
        "choice",
        "prompt_id, variant_id, draw, choice_index, loglikelihood, "
        "unconditional_loglikelihood, is_greedy, n_tokens, n_bytes, is_target",
        "run_id, prompt_id, variant_id, draw, choice_index",
    ),
    (
        "score",
        "prompt_id, variant_id, draw, metric_id, value, weight, n_draws, raw, status, "
        "origin",
        "run_id, metric_id, prompt_id, variant_id, draw",
    ),
    (
        "prompt_score",
        "prompt_id, metric_id, perturbation, value, weight, n_draws, within_variance, "
        "n_scored, n_unscored, is_binary",
        "run_id, metric_id, prompt_id, perturbation",
    ),
)


def push(scratch: Scratch, state: _Load, run_ids: Mapping[int, int]) -> None:
    """The facts and texts of new runs, sorted as the store keeps them."""
    if not run_ids:
        return
    scratch.put("run_id", _numbered(run_ids))
    are_all = len(run_ids) == len(state.dump.runs)
    for table, columns, order in _PUSHED:
        if state.sizes[f"stage_{table}"] and (
            are_all
            or scratch.value(
                f"select count(*) from stage_{table} semi join run_id using (run)"
            )
        ):
            scratch.push(
                table,
                f"select run_id, {columns} from stage_{table} join run_id using (run) "
                f"order by {order}",
            )
    if not state.are_apart:
        scratch.push("draw_score", query_text("ingest", "draw_scores"))
    if TRANSCRIPT in state.columns:
        push_transcripts(scratch, run_ids)
    _push_texts(scratch, are_all)


def push_transcripts(scratch: Scratch, run_ids: Mapping[int, int]) -> None:
    """Store what happened on the way to the responses of runs."""
    if not scratch.value("select count(*) from stage_transcript"):
        return
    scratch.put("transcript_run", _numbered(run_ids))
    scratch.push("transcript", query_text("ingest", "transcripts"))
    scratch.push("tool_call", query_text("ingest", "tool_calls"))


def complete_transcripts(
    connection: sa.Connection,
    scratch: Scratch,
    state: _Load,
    run_ids: Mapping[int, int],
) -> list[int]:
    """Store what happened on the way, of stored runs that another source has given
    without it, or that were loaded before it was kept; gives the ids of these."""
    if not run_ids or not scratch.value("select count(*) from stage_transcript"):
        return []
    way = tables.transcript.c.run_id
    complete = set(
        connection.execute(
            sa.select(way).where(way.in_(run_ids.values())).distinct()
        ).scalars()
    )
    # a run that stands twice in the dump is completed once
    once = {run_id: run for run, run_id in run_ids.items() if run_id not in complete}
    if once:
        push_transcripts(scratch, dict(zip(once.values(), once, strict=True)))
        messages = (
            "select messages_hash from stage_transcript semi join transcript_run using "
            "(run)"
        )
        scratch.push_new(
            "content",
            "sha256",
            f"select sha256, text from stage_text where sha256 in ({messages})",
        )
    for run_id, run in once.items():
        state.statements.append(
            statement(state.part_of(run).source.id, TRANSCRIPTS, run_id, {})
        )
    return list(once)


def _numbered(run_ids: Mapping[int, int]) -> pa.Table:
    """Runs of a dump with their ids in the store."""
    return pa.table(
        {
            "run": pa.array(list(run_ids), pa.int32()),
            "run_id": pa.array(list(run_ids.values()), pa.int64()),
        }
    )


def push_run_metrics(
    connection: sa.Connection,
    scratch: Scratch,
    state: _Load,
    run_ids: Mapping[int, int],
) -> None:
    """Which metrics each new run has figures of: prompts with a score, or a published
    figure."""
    counts: dict[tuple[int, int], int] = {}
    if state.are_apart:  # then each score is the mean of its prompt
        counts = {
            (item.run, item.metric_id): item.n_weighted
            for item in state.scores
            if item.run in run_ids
        }
    elif state.n_rows:
        query = (
            "select run, metric_id, count(value) from stage_prompt_score group by run, "
            "metric_id order by run, metric_id"
        )
        counts = {
            (run, metric): n for run, metric, n in scratch.rows(query) if run in run_ids
        }
    for run in run_ids:
        header = state.dump.runs[run]
        for item in header.published:
            counts.setdefault(
                (run, state.metric_ids[spec_of(header, item.metric, item.filter)]), 0
            )
    append(
        connection,
        tables.run_metric,
        [
            {"run_id": run_ids[run], "metric_id": metric, "n_scored": n}
            for (run, metric), n in counts.items()
        ],
    )


def _push_texts(scratch: Scratch, are_all: bool) -> None:
    """Store the texts that the store does not hold yet.

    Args:
        scratch: with the staged runs.
        are_all: every staged run is stored; else only the texts of those in ``run_id``
            are.
    """
    select = "select sha256, text from stage_text"
    if not are_all and scratch.value(
        "select count(*) from stage_fact anti join run_id using (run)"
    ):
        hashes = "select {0}_hash from stage_generation semi join run_id using (run)"
        messages = (
            "select messages_hash from stage_transcript semi join run_id using (run)"
        )
        new = (
            f"{hashes.format('prompt')} union all {hashes.format('response')} union "
            f"all {messages}"
        )
        select = f"{select} where sha256 in ({new})"  # not the texts of runs that are not stored
    scratch.push_new("content", "sha256", select)


# --- published figures and the ledger --------------------------------------------------------


def link_sources(
    connection: sa.Connection,
    state: _Load,
    decisions: Sequence[Decision],
    run_ids: Mapping[int, int],
) -> None:
    """Which runs this source holds, new or seen again, under which keys, and what they
    supersede under these."""
    rows: list[dict[str, Any]] = []
    replaced: list[tuple[int, str | None, int]] = []
    again: set[int] = set()
    for decision in decisions:
        if decision.action == "skip":
            continue
        run_id = decision.stored_as(run_ids)
        path_in_source = masked(readable(state.dump.runs[decision.run].place)) or None
        source_id = state.part_of(decision.run).source.id
        keys = {"run_key": decision.run_key, "superseded_by": decision.superseded_by}
        rows.append(
            {"run_id": run_id, "source_id": source_id, "place": path_in_source, **keys}
        )
        replaced += [(old, decision.run_key, run_id) for old in decision.supersedes]
        replaced += [(old, key, run_id) for old, key in decision.restates]
        if decision.action == "seen":
            again.add(run_id)
    append(connection, tables.run_source, rows)
    supersede(connection, replaced, again)


def add_prompts(
    connection: sa.Connection, store: Store, scratch: Scratch, state: _Load
) -> None:
    """Write the prompts that the store lacks; clusterings by their fields take them in.
    The ids of all are in ``stage_prompt`` then."""
    state.new_prompts = _find_new_prompts(scratch, state)
    if state.new_prompts and engines.is_shared(connection):
        store.dialect.prepare(connection)  # then none comes in between
        state.new_prompts = _find_new_prompts(scratch, state)
    if state.new_prompts:
        _push_prompts(scratch, connection, state)
        field_clusters.extend(store, benchmarks_of(state))
        scratch.script("stage_prompt")


def _find_new_prompts(scratch: Scratch, state: _Load) -> int:
    """How many the store lacks, which are in ``new_prompt``; if none, ``stage_prompt``
    is made."""
    scratch.pull(
        "known_prompt",
        "select id, benchmark_id, split, key, occurrence from prompt "
        "where benchmark_id in (select unnest(cast(:benchmarks as bigint[])))",
        {"benchmarks": benchmarks_of(state)},
    )
    if scratch.value("select count(*) from known_prompt"):
        scratch.script("stage_prompt")
        if scratch.value("select bool_and(prompt_id is not null) from stage_prompt"):
            return 0
    return scratch.script("new_prompt")


def _push_prompts(scratch: Scratch, connection: sa.Connection, state: _Load) -> None:
    first = state.first_new_prompt = allocate(connection, "prompt", state.new_prompts)
    scratch.run(
        "insert into known_prompt by name select cast($first + number - 1 as bigint) "
        "as id, benchmark_id, split, key, occurrence from new_prompt",
        {"first": first},
    )
    # in slices: all at once would be joined through the disk; a slice is work for one
    # thread
    scratch.fit_threads(0)
    of_slice = f"(number - 1) // {ROWS_OF_A_GROUP}"
    ends = (
        f"select min(first_r), max(first_r) from new_prompt group by {of_slice} order "
        "by 1"
    )
    for low, high in scratch.rows(ends):
        scratch.push(
            "prompt", scratch.text("insert_prompt", first_id=first, low=low, high=high)
        )
    scratch.fit_threads(state.n_rows)
    for benchmark_id, fingerprint in fingerprints(scratch):
        connection.execute(
            sa.update(tables.benchmark)
            .where(tables.benchmark.c.id == benchmark_id)
            .values(fingerprint=fingerprint)
        )


def benchmarks_of(state: _Load) -> list[int]:
    """Ids of the benchmarks of a load, ascending."""
    return sorted({row["benchmark_id"] for row in state.references})
