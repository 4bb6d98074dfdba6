"""Second step of a load: the prompts that the store lacks."""

from __future__ import annotations

from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate import field_clusters
from warehouse.store.load import facts
from warehouse.store.load.dimensions import allocate
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import _Load
from warehouse.store.schema.later import tables


def add_prompts(connection: sa.Connection, store: Store, scratch: Scratch, state: _Load) -> None:
    """Write the prompts that the store lacks; clusterings by their fields take them in. The ids of all
    are in ``stage_prompt`` then."""
    state.new_prompts = _find_new_prompts(scratch, state)
    if state.new_prompts and engines.is_shared(connection):
        store.dialect.prepare(connection)  # then none comes in between
        state.new_prompts = _find_new_prompts(scratch, state)
    if state.new_prompts:
        _push_prompts(scratch, connection, state.new_prompts)
        field_clusters.extend(store, benchmarks_of(state))


def _find_new_prompts(scratch: Scratch, state: _Load) -> int:
    scratch.pull(
        "known_prompt",
        "select id, benchmark_id, split, key, occurrence from prompt "
        "where benchmark_id in (select unnest(cast(:benchmarks as bigint[])))",
        {"benchmarks": benchmarks_of(state)},
    )
    scratch.script("stage_prompt")
    scratch.script("new_prompt")
    return int(scratch.value("select count(*) from new_prompt"))


def _push_prompts(scratch: Scratch, connection: sa.Connection, count: int) -> None:
    first = allocate(connection, "prompt", count)
    scratch.run(
        "insert into known_prompt by name select cast($first + number - 1 as bigint) as id, "
        "benchmark_id, split, key, occurrence from new_prompt",
        {"first": first},
    )
    scratch.script("stage_prompt")
    scratch.push("prompt", scratch.text("insert_prompt", first_id=first))
    for benchmark_id, fingerprint in facts.fingerprints(scratch):
        connection.execute(
            sa.update(tables.benchmark).where(tables.benchmark.c.id == benchmark_id).values(fingerprint=fingerprint)
        )


def benchmarks_of(state: _Load) -> list[int]:
    """Ids of the benchmarks of a load, ascending."""
    return sorted({row["benchmark_id"] for row in state.references})
