"""Two models on the prompts that a filter leaves: an interval without a test, and the
claim to be tested on other data.

Prompts are chosen by what they are, never by their scores: the interval of prompts that
were picked for their difference says nothing. And whoever tries filters until one of
them shows a difference has found none yet: so there is no p here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from warehouse.analysis.compare.answer import ComparedPairs
from warehouse.analysis.compare.flips import Ids, PromptFilter, among
from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.overall import (
    overall_row,
    sharing_of,
    why_no_overall,
)
from warehouse.analysis.comparison.pair_tests import PLANNED, Tests, difference_of
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.row import ComparisonRow, make_row
from warehouse.analysis.power.pilot import pilot_of
from warehouse.errors import MisuseError, StatisticsError
from warehouse.records.canonical_json import canonical_json
from warehouse.stats import sample_size

#: Chance to find the difference that a frozen claim is planned with, and its
#: significance level.
POWER, ALPHA = 0.8, 0.05


#: Columns of a `ComparisonRow` that say no test.
SHOWN = (
    *(
        "benchmark",
        "split",
        "metric",
        "mean_a",
        "mean_b",
        "difference",
        "standard_error",
        "ci_low",
        "ci_high",
    ),
    *("level", "n_prompts", "n_clusters", "flags", "reason"),
)


@dataclass(frozen=True)
class Exploratory:
    """Results on the prompts that a filter leaves."""

    #: `SHOWN` of each benchmark with such prompts, the mean over several last.
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]  #: what was left out, and why.


def explore(compared: ComparedPairs, prompts: Ids) -> Exploratory:
    """The differences of a comparison on some of its prompts.

    Args:
        prompts: ids, ascending (`prompts_of`).
    """
    question = replace(
        compared.question, method="auto", equivalence=None, n_resamples=1
    )
    kept: list[tuple[Pair, ComparisonRow]] = []
    notes = []
    for pair, whole in zip(compared.pairs, compared.comparison.rows, strict=True):
        part = among(pair, prompts)
        if part is None:
            continue
        if PLANNED in whole.flags:
            notes.append(
                f"{whole.benchmark}: a planned subset was asked, of which a part has "
                "no interval of its own"
            )
            continue
        try:
            kept.append((part, _row(part, question)))
        except (StatisticsError, MisuseError) as error:
            notes.append(f"{whole.benchmark}: {error}")
    rows = [row for _, row in kept]
    pairs = [pair for pair, _ in kept]
    if len(kept) > 1 and compared.shared is not None:
        why = why_no_overall(pairs)
        if why:
            notes.append(f"overall: {why}")
            rows += []
        else:
            rows += [
                overall_row(pairs, sharing_of(pairs, compared.shared), rows, question)
            ]
    shown = []
    for row in rows:
        shown.append({name: getattr(row, name) for name in SHOWN})
    return Exploratory(tuple(shown), tuple(notes))


def _row(pair: Pair, question: Compare) -> ComparisonRow:
    return make_row(
        pair, difference_of(pair, question), Tests(None), question, is_part=True
    )


def freeze(
    compared: ComparedPairs,
    prompt_filter: PromptFilter,
    prompts: Ids | None,
    sources: Sequence[Mapping[str, Any]],
    now: datetime,
) -> dict[str, Any]:
    """A claim that looking gave, to be tested on data that gave it not.

    Args:
        compared: on a single benchmark and split.
        prompt_filter: what it keeps.
        prompts: that it keeps by what they are; None for all.
        sources: of the runs, with ``path`` and ``sha256``.
        now: when it is written, UTC.

    Raises:
        MisuseError: several benchmarks, no such prompt, or nothing to claim.
    """
    if len(compared.pairs) != 1:
        raise MisuseError(
            "a claim is of one benchmark and split: choose it first (benchmark=NAME, "
            "where=split=NAME)"
        )
    part = compared.pairs[0] if prompts is None else among(compared.pairs[0], prompts)
    if part is None:
        raise MisuseError(
            "no prompt of the filter has a score of both, so there is nothing to claim"
        )
    if prompts is not None and PLANNED in compared.comparison.rows[0].flags:
        raise MisuseError(
            "a planned subset was asked, of which a part has no interval of its own"
        )
    row = (
        compared.comparison.rows[0]
        if prompts is None
        else _row(part, compared.question)
    )
    if not row.difference:
        raise MisuseError(
            "a and b have the same figure on these prompts: there is no difference to "
            "claim"
        )
    higher = "a" if row.difference > 0 else "b"
    word = _word(row.difference, part.metric.higher_is_better)
    content: dict[str, Any] = {
        "kind": "warehouse hypothesis",
        "version": 1,
        "claim": (
            f"{row.model_a} has a {word} {row.metric} than {row.model_b} on "
            f"{row.benchmark}"
        ),
        "found_by_looking": (
            "The prompts, the metric and the direction were chosen after the scores "
            "were seen. The figures under 'seen' are no evidence for the claim, and "
            "are probably too large: test it on data that had no part in it."
        ),
        "frozen_at": now.isoformat(timespec="seconds"),
        "models": {
            "a": row.model_a,
            "condition_a": row.condition_a,
            "b": row.model_b,
            "condition_b": row.condition_b,
        },
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "higher_is_better": part.metric.higher_is_better,
        "prompts": {
            name: getattr(prompt_filter, name)
            for name in ("text", "field", "in_cluster")
            if getattr(prompt_filter, name)
        },
        "direction": f"{higher} has the higher figure",
        "seen": {
            name: getattr(row, name)
            for name in (
                "difference",
                "standard_error",
                "ci_low",
                "ci_high",
                "level",
                "n_prompts",
                "n_clusters",
            )
        },
        "prompts_needed": _needed(part, row.difference),
        "test": {
            "command": _in_another_store(compared.question, row).command(),
            "how": (
                "Take other prompts, none of those seen here; where 'prompts' names a "
                "filter, only prompts that meet it. Ask both models, ingest the dumps "
                "into a store of their own and run the command once (--db says which "
                "store). The claim holds if p is at most 0.05 and the difference has "
                "this direction."
            ),
        },
        "sources": [
            {"path": source["path"], "sha256": source["sha256"]} for source in sources
        ],
    }
    content["claim"] += (
        f", where {prompt_filter.in_words}" if prompt_filter.of_prompts else ""
    )
    return content | {"digest": hashlib.sha256(canonical_json(content)).hexdigest()}


def _in_another_store(question: Compare, row: ComparisonRow) -> Compare:
    """The question in another store, which numbers its runs otherwise, and may have
    other metrics and benchmarks."""
    a, b = question.a, question.b
    if row.model_a != row.model_b:
        a = row.model_a if a.startswith("run:") else a
        b = row.model_b if b.startswith("run:") else b
    if question.across_links:
        benchmark = None
    else:
        benchmark = row.benchmark
    return replace(question, a=a, b=b, benchmark=benchmark, metric=row.metric, flips=0)


def _word(difference: float, higher_is_better: bool | None) -> str:
    if higher_is_better is None:
        if difference > 0:
            return "higher"
        return "lower"
    if (difference > 0) == higher_is_better:
        return "better"
    return "worse"


def _needed(pair: Pair, difference: float) -> dict[str, Any]:
    """Prompts that a test needs with as many draws as there are, if the difference is
    as seen, and if it is half."""
    seen, half = "if_the_difference_is_as_seen", "if_it_is_half_of_that"
    needed: dict[str, Any] = {"power": POWER, "alpha": ALPHA, seen: None, half: None}
    try:
        pilot = pilot_of(
            (pair.scores_a, pair.scores_b), pair.prompts, pair.metric, pair.clusters
        )
        draws = [max(1, n // pair.n) for n in pair.n_draws]
        sizes = [
            sample_size(
                abs(delta),
                pilot.parts,
                k_a=draws[0],
                k_b=draws[1],
                alpha=ALPHA,
                power=POWER,
            )
            for delta in (difference, difference / 2)
        ]
    except StatisticsError as error:
        return needed | {"reason": str(error)}
    return (
        needed
        | {"draws_a": draws[0], "draws_b": draws[1], "flags": [*pilot.flags]}
        | dict(zip((seen, half), sizes, strict=True))
    )
