"""Training seeds in a comparison over several benchmarks: one draw of seeds moves the
figures of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.pair_tests import difference_of, run_tests
from warehouse.analysis.comparison.pairing import Floats, Ids, Pair
from warehouse.analysis.comparison.row import ComparisonRow, make_row
from warehouse.analysis.selection.common_seeds import common_seeds, of_seeds
from warehouse.analysis.selection.prompt_links import indices_among
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats.rows.seed_difference import RowSeeds, SeedReach
from warehouse.stats.suites.cells import Cell, leaf_cell
from warehouse.stats.suites.seed_suite import LeafSeeds, combine_over_seeds, leaf_seeds
from warehouse.tables.words import listed


def on_common_seeds(
    pairs: Sequence[Pair], rows: Sequence[ComparisonRow], options: Compare
) -> tuple[list[Pair], list[ComparisonRow], list[str]]:
    """Pairs and rows over the seeds that all benchmarks have, and what is said of seeds
    that are left out.

    Args:
        pairs: one for each benchmark.
        rows: their rows.
    """
    notes: list[str] = []
    scores: list[list[PromptScores]] = []
    for side in ("a", "b"):
        own: dict[int, PromptScores | None] = {
            number: getattr(pair, f"scores_{side}") for number, pair in enumerate(pairs)
        }
        counted, left_out = common_seeds(own)
        kept = [
            of_seeds(found, counted[at]) if at in counted else found
            for at, found in own.items()
            if found
        ]
        scores.append(kept)
        for label, places in left_out.items():
            names = listed([pairs[place].a.benchmark_split[0] for place in places])
            model = getattr(pairs[0], side).model
            notes.append(
                f"overall: seed {label} of {model} left out: it has {names}, and not "
                "every benchmark that has several"
            )
    if not notes:
        return [*pairs], [*rows], []
    found_pairs: list[Pair] = []
    found_rows: list[ComparisonRow] = []
    for pair, row, a, b in zip(pairs, rows, *scores, strict=True):
        part = _over(pair, a, b)
        changed = part is not pair
        paired = None
        if changed:
            paired = difference_of(part, options)
        found_pairs.append(part)
        found_rows.append(
            row
            if paired is None
            else make_row(part, paired, run_tests(part, paired, options), options)
        )
    return found_pairs, found_rows, notes


def _over(pair: Pair, a: PromptScores, b: PromptScores) -> Pair:
    """A pair with other scores of the same prompts, on those that both still have."""
    if a is pair.scores_a and b is pair.scores_b:
        return pair
    places_a = indices_among(a.prompts, pair.prompts)
    places_b = indices_among(b.prompts, pair.prompts)
    kept = (places_a < a.n) & (places_b < b.n)
    clusters = None
    if pair.clusters is not None:
        clusters = pair.clusters[kept]
    return replace(
        pair,
        scores_a=a,
        scores_b=b,
        prompts=pair.prompts[kept],
        of_a=places_a[kept],
        of_b=places_b[kept],
        clusters=clusters,
    )


def seeds_of_sides(
    pairs: Sequence[Pair], units: Sequence[Ids], weights: Floats
) -> tuple[RowSeeds, RowSeeds]:
    """The seeds of both sides, as a sample of further ones, over all benchmarks.

    Seeds that are paired (``--pair-seeds``) are one side, the other is without any.

    Args:
        pairs: one for each benchmark, over seeds that all of them have.
        units: of the common prompts of each, equal where these are one.
        weights: of the benchmarks.
    """
    shared = [pair.shared_seeds for pair in pairs]
    if (
        all(len(own) > 1 for own in shared if own)
        and any(shared)
        and all(own == shared[0] for own in shared)
    ):
        leaves: list[Cell | LeafSeeds] = [
            leaf_seeds(_differences(pair, own), own, unit)
            for pair, own, unit in zip(pairs, shared, units, strict=True)
        ]
        return _row(leaves, weights, fixed=False), RowSeeds(1, 0.0, 0.0, fixed=True)
    sides: list[RowSeeds] = []
    for number in (0, 1):
        own_leaves = [
            _leaf(pair, number, unit) for pair, unit in zip(pairs, units, strict=True)
        ]
        is_trained = any(pair.trained[number] for pair in pairs)
        sides.append(_row(own_leaves, weights, fixed=not is_trained))
    return sides[0], sides[1]


def _row(
    leaves: Sequence[Cell | LeafSeeds], weights: Floats, *, fixed: bool
) -> RowSeeds:
    _, seeds = combine_over_seeds(leaves, weights)
    if seeds is None:
        return RowSeeds(1, 0.0, 0.0, fixed=fixed)
    return seeds.row


def _leaf(pair: Pair, number: int, units: Ids) -> Cell | LeafSeeds:
    scores, rows = ((pair.scores_a, pair.of_a), (pair.scores_b, pair.of_b))[number]
    if scores.seeds is None:
        return leaf_cell(scores.values[rows], units)
    cells = scores.seeds.cells[:, rows]
    there = np.flatnonzero(np.isfinite(cells).any(axis=1))
    labels = [scores.seeds.labels[place] for place in there]
    if len(labels) < 2:
        return leaf_cell(scores.values[rows], units)
    weights = scores.weights[rows]
    return leaf_seeds(
        cells[there], labels, units, weights=weights, link=pair.metric.link
    )


def _differences(pair: Pair, labels: Sequence[str]) -> Floats:
    """First minus second of each seed on the common prompts."""
    tables: list[Floats] = []
    for scores, rows in ((pair.scores_a, pair.of_a), (pair.scores_b, pair.of_b)):
        assert scores.seeds is not None
        tables.append(
            scores.seeds.cells[[scores.seeds.labels.index(label) for label in labels]][
                :, rows
            ]
        )
    return tables[0] - tables[1]


def error_of_prompts(row: ComparisonRow) -> tuple[float | None, float | None]:
    """Error of a difference over seeds as far as other prompts would change it, and its
    degrees of freedom."""
    reach = row.paired.draws
    if not isinstance(reach, SeedReach) or reach.parts is None:
        return row.standard_error, row.degrees_of_freedom
    parts = reach.parts
    return float(np.sqrt(parts.v_prompts[0])), float(parts.df_prompts[0])
