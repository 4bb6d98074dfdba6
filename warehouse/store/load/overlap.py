"""Several tries of one run, of which one holds what another holds: completed, appended, retried.

A fact that a try could not settle (an unscored sample, a failed generation) is no loss: the other
try may say anything in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from warehouse.store.load.scratch import Scratch

#: Pairs that are held against each other at a time, to bound memory.
BLOCK = 200

Pair = tuple[int, int]  # number of a run in the dump, id of a stored run


@dataclass(frozen=True)
class Overlap:
    """What a run of the dump and a stored run have of each other."""

    has_all_stored: bool
    is_all_stored: bool


def compare(scratch: Scratch, pairs: Iterable[Pair]) -> dict[Pair, Overlap]:
    """Hold runs of the dump (with their samples, in the scratch tables) against stored runs."""
    wanted = sorted(set(pairs))
    overlaps: dict[Pair, Overlap] = {}
    for start in range(0, len(wanted), BLOCK):
        overlaps |= _compare(scratch, wanted[start : start + BLOCK])
    return overlaps


#: (facts that a try holds, columns that must agree, facts that are not settled)
_FACTS = (
    ("score", "metric_id, value", "value is null"),
    ("generation", "response_hash", "error is not null"),
    ("choice", "choice_index, loglikelihood", "loglikelihood is null"),
)


def _compare(scratch: Scratch, pairs: Sequence[Pair]) -> dict[Pair, Overlap]:
    scratch.put(
        "pair",
        pa.table(
            {
                "run": pa.array([run for run, _ in pairs], pa.int32()),
                "stored_id": pa.array([stored for _, stored in pairs], pa.int64()),
            }
        ),
    )
    lacking: set[Pair] = set()  # the dump's run lacks a stored fact
    beyond: set[Pair] = set()  # and has one that is not stored
    ids = sorted({stored for _, stored in pairs})
    for fact, values, unsettled in _FACTS:
        columns = f"prompt_id, variant_id, draw, {values}"
        scratch.pull(
            "stored_fact",
            f"select run_id, {columns}, ({unsettled}) as is_unsettled from {fact} "
            "where run_id in (select unnest(cast(:ids as bigint[])))",
            {"ids": ids},
        )
        stored = f"select run, stored_id, {columns} from pair join stored_fact on run_id = stored_id"
        new = f"select run, stored_id, {columns} from pair join stage_{fact} using (run)"
        lacking |= _differing(scratch, f"{stored} where not is_unsettled", new)
        beyond |= _differing(scratch, f"{new} where not ({unsettled})", stored)
    scratch.drop(["pair", "stored_fact"])
    return {pair: Overlap(pair not in lacking, pair not in beyond) for pair in pairs}


def _differing(scratch: Scratch, facts: str, others: str) -> set[Pair]:
    """The pairs of which a fact is not among the others."""
    rows = scratch.rows(f"select distinct run, stored_id from ({facts} except {others}) as gone")
    return {(run, stored) for run, stored in rows}
