"""Votes between two models: their ids, their questions, and the rows that are stored of
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.records import VOTE_OUTCOMES, RunHeader
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.benchmark_metrics import add_statements
from warehouse.store.load.dimensions import Dimensions, Naming, allocate
from warehouse.store.load.prompt_statements import Unsaid
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import _Load
from warehouse.store.load.statements import PROMPTS, statement
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text


def holds_any(scratch: Scratch, state: _Load) -> bool:
    """True if a dump of the load has votes; one of votes may have lost all."""
    if all(part.dump.votes is None for part in state.parts):
        return False
    return bool(scratch.value("select count(*) from stage_vote"))


def add_names(
    store: Store,
    scratch: Scratch,
    dimensions: Dimensions,
    state: _Load,
    connection: sa.Connection,
) -> None:
    """Write the models, questions and scorers that votes name and the store lacks; the
    votes with all ids are in ``stage_preference`` then.

    Raises:
        InputError: a vote that no store can hold, or votes by the same on the same that
            contradict each other.
    """
    _refuse_unfit(scratch, state)
    store.dialect.prepare(connection)  # then no other load adds the same in between
    _name(scratch, dimensions, state, connection)
    _name_prompts(scratch, state, connection)
    policy = state.options.on_duplicate
    scratch.run(
        query_text("ingest", "stage_preference"), {"numbered": int(policy == "draws")}
    )
    _settle_repeated(scratch, state)


def push(store: Store, scratch: Scratch, state: _Load) -> None:
    """Append the votes, and say which of them other sources hold too."""
    scratch.push(
        "preference",
        scratch.text("push_preference", last=int(state.options.on_duplicate == "last")),
    )
    kept = scratch.rows(
        "select part, count(*) filter (where is_own or place = 0) from "
        "stage_preference group by part"
    )
    state.votes = dict(kept)
    sources = [part.source.id for part in state.parts]
    for row in store.rows(
        query_text("store", "shared_votes"), {"sources": sources, "of_all": 0}
    ):
        own = next(part for part in state.parts if part.source.id == row["source_id"])
        own.dump.notes.append(
            f"{_votes(row['n'])} in source {row['other_id']} ({row['other']}) too, by "
            "the same voters on the same answers: they count twice until one is "
            f"removed (warehouse fix forget {row['other_id']})"
        )


def _votes(count: int) -> str:
    if count == 1:
        return "1 vote"
    return f"{count} votes"


def _refuse_unfit(scratch: Scratch, state: _Load) -> None:
    words = ", ".join(f"'{word}'" for word in VOTE_OUTCOMES)
    checks = {
        f"outcome not in ({words})": "one of " + ", ".join(VOTE_OUTCOMES),
        "not (weight > 0 and weight < 1e140)": "a weight above 0",
        "model_a is null or model_b is null or benchmark is null": (
            "two models, and the benchmark"
        ),
        "first not in ('a', 'b')": "a or b shown first",
    }
    for condition, expected in checks.items():
        found = scratch.rows(
            f"select part, r, outcome, weight from stage_vote where {condition} order "
            "by r limit 1"
        )
        for part, row, outcome, weight in found:
            raise InputError(
                f"vote {row} has the outcome {outcome!r} and the weight {weight}",
                path=state.parts[part].source.path,
                expected=expected,
            )


def _name(
    scratch: Scratch, dimensions: Dimensions, state: _Load, connection: sa.Connection
) -> None:
    """Ids of what votes name but questions, each kind in a scratch table."""
    sources = [
        {"part": at, "source_id": part.source.id} for at, part in enumerate(state.parts)
    ]
    _put(scratch, "vote_source", sources)
    _name_models(scratch, dimensions, state, connection)
    scorers = _distinct(
        scratch, {"scorer": "''", "scorer_kind": "'human'", "judge_model": "''"}
    )
    rows = [
        {
            "name": row["scorer"],
            "kind": row["scorer_kind"],
            "judge_model": row["judge_model"],
            **_NO_PARAMETERS,
        }
        for row in scorers
    ]
    ids = dimensions.ids(connection, tables.scorer, rows)
    _put_with_ids(scratch, "vote_scorer", scorers, "scorer_id", ids)
    variants = _distinct(scratch, {"perturbation": "''", "template": "''"})
    rows = [{**row, "fewshot_draw": ""} for row in variants]
    ids = dimensions.ids(connection, tables.prompt_variant, rows)
    _put_with_ids(scratch, "vote_variant", variants, "variant_id", ids)


def _name_models(
    scratch: Scratch, dimensions: Dimensions, state: _Load, connection: sa.Connection
) -> None:
    """Ids of the models and benchmarks of votes."""
    named = scratch.rows(
        "select distinct part, benchmark, unnest([model_a, model_b]) as model from "
        "stage_vote order by all"
    )
    headers: list[RunHeader] = []
    parts: list[int] = []
    by_part: list[list[RunHeader]] = [[] for _ in state.parts]
    for part, benchmark, model in named:
        header = RunHeader(harness="", model=model, benchmark=benchmark)
        headers.append(header)
        parts.append(part)
        by_part[part].append(header)
    namings = [Naming(own, "") for own in by_part]
    checkpoints = dimensions.checkpoints(connection, headers, parts)
    models = {}
    for header, checkpoint in zip(headers, checkpoints, strict=True):
        models[header.model] = checkpoint
    benchmarks = dimensions.benchmarks(connection, namings)
    add_statements(state, namings, benchmarks, dimensions.said())
    _put(
        scratch,
        "vote_model",
        [{"model": name, "checkpoint_id": number} for name, number in models.items()],
    )
    _put(
        scratch,
        "vote_benchmark",
        [{"benchmark": name, "benchmark_id": at} for name, at in benchmarks.items()],
    )


_NO_PARAMETERS = {"parameters_key": "", "parameters": None}


def _distinct(scratch: Scratch, columns: dict[str, str]) -> list[dict[str, Any]]:
    """Distinct values of some columns of the votes, with what stands for null in
    each."""
    said = ", ".join(
        f"coalesce({name}, {default}) as {name}" for name, default in columns.items()
    )
    rows: list[dict[str, Any]] = scratch.table(
        f"select distinct {said} from stage_vote order by all"
    ).to_pylist()
    return rows


def _put(scratch: Scratch, name: str, rows: Sequence[dict[str, Any]]) -> None:
    scratch.put(name, pa.Table.from_pylist(list(rows)))


def _put_with_ids(
    scratch: Scratch,
    name: str,
    rows: Sequence[dict[str, Any]],
    column: str,
    ids: Sequence[int],
) -> None:
    numbered = [{**row, column: number} for row, number in zip(rows, ids, strict=True)]
    _put(scratch, name, numbered)


def _name_prompts(scratch: Scratch, state: _Load, connection: sa.Connection) -> None:
    """The questions of the votes with their ids, in ``vote_prompt``; the store gets
    those that it lacks."""
    held = scratch.rows("select benchmark_id from vote_benchmark")
    scratch.pull(
        "held_prompt",
        "select id, benchmark_id, split, key, tool_id from prompt where occurrence = 0 "
        "and benchmark_id in (select unnest(cast(:benchmarks as bigint[])))",
        {"benchmarks": [row[0] for row in held]},
    )
    scratch.run(query_text("ingest", "vote_prompt"))
    if scratch.value("select count(prompt_id) from vote_prompt"):
        _state_prompts(scratch, state)
    count = int(
        scratch.value("select count(*) from vote_prompt where prompt_id is null")
    )
    if not count:
        return
    first = allocate(connection, "prompt", count)
    scratch.run(query_text("ingest", "number_vote_prompt"), {"first": first})
    scratch.push("prompt", scratch.text("insert_vote_prompt", first_id=first))


def _state_prompts(scratch: Scratch, state: _Load) -> None:
    """Store what votes do not say of questions that stood before them."""
    said = scratch.rows(
        "select count(text), count(target), count(metadata) from stage_vote"
    )[0]
    unsaid = [
        name
        for name, n in zip(("text", "target", "metadata"), said, strict=True)
        if not n
    ]
    of_all = Unsaid(frozenset({"choices", *unsaid})).as_json()
    named = scratch.rows(
        "select distinct part, benchmark_id from stage_vote join vote_benchmark using "
        "(benchmark) order by all"
    )
    for part, benchmark in named:
        state.statements.append(
            statement(state.parts[part].source.id, PROMPTS, benchmark, of_all)
        )


def _settle_repeated(scratch: Scratch, state: _Load) -> None:
    """Say how many votes stand more than once, and are one.

    Raises:
        InputError: they differ, and nobody said which counts.
    """
    policy = state.options.on_duplicate
    for number, n, n_differ, first, last in scratch.rows(
        query_text("ingest", "votes_twice")
    ):
        part = state.parts[number]
        start = int(
            scratch.value(f"select min(r) from stage_vote where part = {number}")
        )
        if n_differ and policy == "error":
            raise InputError(
                f"votes {first - start + 1} and {last - start + 1} are by the same on "
                f"the same answers, and differ ({n_differ} such "
                f"case{'' if n_differ == 1 else 's'})",
                path=part.source.path,
                expected="one vote of each voter on a question and a pair",
                advice=(
                    "say which count: --on-duplicate draws (all of them), first or last"
                ),
            )
        counted = "once"
        if n_differ:
            counted = policy
        part.dump.notes.append(
            f"{_votes(n)} that stand in it again, by the same on the same: counted "
            f"{counted}"
        )
