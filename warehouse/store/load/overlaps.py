"""Runs of a dump held against stored ones: what each has of the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from warehouse.store.load.scratch import Scratch
from warehouse.store.sql.query_files import query_text

#: Pairs that are held against each other at a time, to bound memory.
BLOCK = 200


Pair = tuple[int, int]  # number of a run in the dump, id of a stored run


@dataclass(frozen=True)
class Overlap:
    """The overlap of a run of the dump and a stored run."""

    has_all_stored: bool
    is_all_stored: bool
    is_apart: bool = False  #: no draw of a prompt stands in both.


def compare(scratch: Scratch, pairs: Iterable[Pair]) -> dict[Pair, Overlap]:
    """Hold runs of the dump (with their samples, in the scratch tables) against stored
    runs."""
    ordered = sorted(set(pairs))
    overlaps: dict[Pair, Overlap] = {}
    for start in range(0, len(ordered), BLOCK):
        overlaps |= _compare(scratch, ordered[start : start + BLOCK])
    return overlaps


#: (facts that a try holds, columns that must agree, facts that are not settled, stored
#: facts that are the dump's own)
_FACTS = (
    ("score", "metric_id, value", "value is null", "origin <> 'scanned'"),
    (
        "generation",
        "response_hash",
        "error is not null or response_hash is null",
        "true",
    ),
    ("choice", "choice_index, loglikelihood", "loglikelihood is null", "true"),
)


def _compare(scratch: Scratch, pairs: Sequence[Pair]) -> dict[Pair, Overlap]:
    _put_pairs(scratch, pairs)
    lacking: set[Pair] = set()  # the dump's run lacks a stored fact
    beyond: set[Pair] = set()  # and has one that is not stored
    touching: set[Pair] = set()  # both have a fact of one draw of a prompt
    ids = sorted({stored_id for _, stored_id in pairs})
    for fact, values, unsettled, own in _FACTS:
        columns = f"prompt_id, variant_id, draw, {values}"
        scratch.pull(
            "stored_fact",
            f"select run_id, {columns}, ({unsettled}) as is_unsettled from {fact} "
            f"where run_id in (select unnest(cast(:ids as bigint[]))) and {own}",
            {"ids": ids},
        )
        stored = (
            f"select run, stored_id, {columns} from pair join stored_fact on run_id = "
            "stored_id"
        )
        new = (
            f"select run, stored_id, {columns} from pair join stage_{fact} using (run)"
        )
        lacking |= _differing(scratch, f"{stored} where not is_unsettled", new)
        beyond |= _differing(scratch, f"{new} where not ({unsettled})", stored)
        touching |= _touching(scratch, fact)
    scratch.drop(["pair", "stored_fact"])
    overlaps: dict[Pair, Overlap] = {}
    for pair in pairs:
        overlaps[pair] = Overlap(
            has_all_stored=pair not in lacking,
            is_all_stored=pair not in beyond,
            is_apart=pair not in touching,
        )
    return overlaps


def _put_pairs(scratch: Scratch, pairs: Sequence[Pair]) -> None:
    """Pairs as the table ``pair`` of the scratch."""
    runs = [run for run, _ in pairs]
    stored_ids = [stored_id for _, stored_id in pairs]
    table = pa.table(
        {
            "run": pa.array(runs, pa.int32()),
            "stored_id": pa.array(stored_ids, pa.int64()),
        }
    )
    scratch.put("pair", table)


def _touching(scratch: Scratch, fact: str) -> set[Pair]:
    """The pairs that both have a fact of one draw of a prompt."""
    template = query_text("ingest", "touching_runs")
    rows = scratch.rows(template.format(staged=f"stage_{fact}"))
    return {(run, stored) for run, stored in rows}


def _differing(scratch: Scratch, facts: str, others: str) -> set[Pair]:
    """The pairs of which a fact is not among the others."""
    rows = scratch.rows(
        f"select distinct run, stored_id from ({facts} except {others}) as gone"
    )
    return {(run, stored) for run, stored in rows}
