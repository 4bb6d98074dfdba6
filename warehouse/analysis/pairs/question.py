"""The question how all models of a benchmark differ, pair by pair."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    AsRows,
    OfSomePrompts,
    PairSeeds,
    Seed,
    SelectedAtLevel,
    SubsetOk,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question

METHODS = ("auto", "t", "permutation", "mcnemar", "wilcoxon")


@dataclass(frozen=True)
class AllPairs(UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel, Question):
    """Paired differences of all conditions on a benchmark, adjusted for the number of
    pairs.

    Conditions are those of the leaderboard, compared within one split, task version,
    metric and judge.

    Raises:
        MisuseError: unknown benchmark, metric, clustering or field; a suite; fewer than
            two conditions that can be compared.
        StatisticsError: ``level``, ``n_resamples`` or ``seed`` out of range.
    """

    NAME = "pairs"

    benchmark: Annotated[str, Option("Name of a benchmark with prompts of its own.")]
    _: KW_ONLY
    subset_ok: SubsetOk = False
    pair_seeds: PairSeeds = False
    n_resamples: Annotated[
        int,
        Option(
            "Draws for the simultaneous intervals; 0: without.",
            "N",
            ("--resamples",),
            least=0,
        ),
    ] = 9999
    seed: Seed = 0
    with_flags: Annotated[
        bool,
        Option(
            "Give each pair the flags of a comparison; takes a while for thousands of "
            "pairs.",
            in_python_only=True,
        ),
    ] = True
