"""Several scorers side by side, as people read them first: who leads by each of them,
and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from warehouse.analysis.prefer.rows import Judge, JudgeAgreement, PreferenceRow
from warehouse.tables.view import Part, Table
from warehouse.tables.words import WrittenNumber, counted, listed, visible

#: Rows of a table that is shown whole; of a longer one how many.
_SHORT, _MOST = 20, 18
#: Leaders, and pairs of scorers, that are named.
_NAMED = 3


def scorer_parts(
    judges: Sequence[Judge],
    rows: Mapping[str, Sequence[PreferenceRow]],
    agreement: Sequence[JudgeAgreement],
) -> list[Part]:
    """What people are shown of several scorers.

    Args:
        judges: the scorers.
        rows: strengths by scorer, the strongest first; none where there are none.
        agreement: between each two.
    """
    order = sorted(judges, key=lambda judge: -judge.n_votes)
    leaders = {}
    for judge in order:
        if rows[judge.scorer]:
            leaders[judge.scorer] = rows[judge.scorer][0].model
    parts: list[Part] = [visible(_who_leads(len(judges), leaders))]
    parts += map(visible, _how_alike(agreement))
    cells = [_cells(judge, leaders.get(judge.scorer)) for judge in order]
    left = len(cells) - _MOST
    if len(cells) > _SHORT:
        gap = dict.fromkeys(cells[0], "") | {"scorer": f"… {left} more (--all)"}
        cells = [*cells[:_MOST], gap]
    table = Table.of(cells, hide_empty=("may be first",), minor=("kind", "models"))
    return [*parts, "", table]


def _who_leads(n: int, leaders: Mapping[str, str]) -> str:
    """Which models have the highest figure, by how many scorers."""
    if not leaders:
        return f"By none of {n} scorers do the votes give strengths."
    counts = Counter(leaders.values()).most_common()
    if len(counts) == 1:
        return f"{counts[0][0]} has the highest figure by all of {n} scorers."
    named = [f"{model} by {times}" for model, times in counts[:_NAMED]]
    if len(counts) > _NAMED:
        named.append(f"{len(counts) - _NAMED} others by one or more")
    return f"Highest by {n} scorers: {listed(named)}."


def _how_alike(agreement: Sequence[JudgeAgreement]) -> list[str]:
    """How far the orders of each two are alike, and which two are least so."""
    known = [pair for pair in agreement if pair.tau is not None]
    if not known:
        return []
    known.sort(key=lambda pair: pair.tau or 0.0)
    if len(known) == 1:
        pair = known[0]
        differ = counted(pair.n_differ, "model")
        return [
            f"{pair.first} and {pair.second} order the models alike to {pair.tau:.2f} "
            f"(Kendall's tau, {pair.n_votes:,} votes of both); {differ} of "
            f"{len(pair.differences)} differ in strength."
        ]
    middle = float(np.median([pair.tau or 0.0 for pair in known]))
    least = known[0]
    return [
        f"Two of them order the models alike to {middle:.2f} as a rule (Kendall's tau, "
        f"median of {len(known):,} pairs); least {least.first} and {least.second}, "
        f"{least.tau:.2f}."
    ]


def _cells(judge: Judge, leader: str | None) -> dict[str, Any]:
    ties = None
    if judge.n_votes:
        ties = WrittenNumber(f"{100 * judge.n_ties / judge.n_votes:.0f} %")
    return {
        "scorer": judge.scorer,
        "kind": judge.kind,
        "votes": judge.n_votes,
        "ties": ties,
        "models": len(judge.models),
        "highest": leader or f"none: {judge.reason}",
        "may be first": judge.n_first,
    }
