"""A comparison over several benchmarks: one mean difference, with the error propagated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.overall_seeds import error_of_prompts, seeds_of_sides
from warehouse.analysis.comparison.pair_tests import (
    PLANNED,
    Tests,
    bounded_differences,
    careful_equivalence,
    equivalence_p,
)
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.row import (
    ComparisonRow,
    is_equivalent,
    partial_figures,
    which_better,
)
from warehouse.analysis.comparison.shared import SharedRead
from warehouse.analysis.comparison.words import OVERALL
from warehouse.analysis.selection.prompts import copies_in_words, sharing_in_words
from warehouse.stats import PairedDifference, sign_flip_test
from warehouse.stats.core.draws import PROMPTS_FIXED
from warehouse.stats.core.sample import distinct
from warehouse.stats.intervals.defaults import FEW_CLUSTERS
from warehouse.stats.paired.few_differ import FewDiffering
from warehouse.stats.paired.paired import FEW_VARYING
from warehouse.stats.rows.seed_difference import SeedReach
from warehouse.stats.suites.cells import unseen_error
from warehouse.stats.suites.combined_differences import (
    BenchmarkDifference,
    CombinedDifference,
    combine_differences,
    contributions,
)
from warehouse.stats.suites.seed_suite import combined_over_seeds

Units = NDArray[np.int64]


def why_no_overall(pairs: Sequence[Pair]) -> str:
    """Why the differences have no mean; empty where they have one."""
    if any(pair.has_infinite for pair in pairs):
        return "scores of some are infinite, and so would be their mean"
    sides = {(pair.a.benchmark_split[0], pair.b.benchmark_split[0]) for pair in pairs}
    if len(sides) > 1 and any(a != b for a, b in sides):
        return (
            "which of two linked benchmarks comes first was nobody's choice, so "
            "several pairs have no common mean"
        )
    scales = {
        (
            pair.metric.unit,
            pair.metric.link,
            pair.metric.bounds,
            pair.metric.higher_is_better,
            "" if pair.metric.bounds else pair.metric.label,
        )
        for pair in pairs
    }
    if len(scales) == 1:
        return ""
    labels = sorted({pair.metric.label for pair in pairs})
    return (
        f"the benchmarks have {len(scales)} metric scales ({', '.join(labels)}), which "
        "have no common mean; --metric chooses one"
    )


def why_not_over_plans(rows: Sequence[ComparisonRow], sharing: Sharing) -> str:
    """Why differences on planned subsets have no mean; empty where they have one, or
    none is on a plan.

    Args:
        rows: of the benchmarks.
        sharing: what they share.
    """
    planned = [row.benchmark for row in rows if PLANNED in row.flags]
    if not planned:
        return ""
    _, n_benchmarks = np.unique(
        np.concatenate([np.unique(own) for own in sharing.units]), return_counts=True
    )
    n_shared = int(np.sum(n_benchmarks > 1))
    if not n_shared:
        return ""
    return (
        f"{n_shared} prompts or clusters stand in several benchmarks, and on "
        f"{planned[0]} a planned subset was asked: how their errors go together is not "
        "defined"
    )


@dataclass(frozen=True)
class Sharing:
    """Prompts and clusters that benchmarks of a comparison share."""

    #: for each pair the unit of each prompt, the same wherever it stands.
    units: tuple[Units, ...]
    #: for each pair which prompts stand in no pair before it.
    first: tuple[NDArray[np.bool_], ...]
    #: for each pair the place of the first pair with the same questions and scores,
    #: else its own.
    copies: tuple[int, ...]
    #: names of the benchmarks of which it is not known whether they share prompts.
    untold: tuple[str, ...]

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the pairs: benchmarks that are one count as one together."""
        return 1 / np.bincount(self.copies)[list(self.copies)]


def sharing_of(pairs: Sequence[Pair], read: SharedRead) -> Sharing:
    """The sharing of pairs: prompts that are linked or one question, and clusters that
    are one document or text."""
    prompts = [pair.prompts for pair in pairs]
    units = _one_document(np.concatenate([pair.units for pair in pairs]), read.clusters)
    joined = read.prompts.joined(np.concatenate(prompts), units)
    untold = [
        pair.a.benchmark_split[0]
        for pair, is_so in zip(pairs, read.prompts.untold(prompts), strict=True)
        if is_so
    ]
    copies = read.prompts.copies([(pair.prompts, pair.values) for pair in pairs])
    return Sharing(
        tuple(np.split(joined, np.cumsum([pair.n for pair in pairs])[:-1])),
        tuple(read.prompts.counted(prompts)),
        tuple(copies),
        tuple(dict.fromkeys(untold)),
    )


def _one_document(units: Units, clusters: Mapping[int, tuple[str, str]]) -> Units:
    """Clusters of one document or text made one wherever they stand."""
    first: dict[tuple[str, str], int] = {}
    joined = {
        cluster: first.setdefault(name, cluster) for cluster, name in clusters.items()
    }
    if not joined:
        return units
    names, codes = distinct(units)
    return np.array([joined.get(name, name) for name in names.tolist()], np.int64)[
        codes
    ]


#: Columns of a row that the overall one adds up.
_COUNTS = ("n_draws_a", "n_draws_b", "only_a", "only_b", "unscored_a", "unscored_b")


def overall_row(
    pairs: Sequence[Pair],
    sharing: Sharing,
    rows: Sequence[ComparisonRow],
    options: Compare,
) -> ComparisonRow:
    """The mean over benchmarks, each of equal weight; those that are one under several
    names count as one.

    Args:
        pairs: at least two, on one metric scale.
        sharing: what they share.
        rows: their rows.
    """
    parts = [
        _part(*each)
        for each in zip(sharing.copies, pairs, sharing.units, rows, strict=True)
    ]
    weights = sharing.weights
    n_zero = sum(part.error == 0 for part in parts)
    if options.estimand != PROMPTS_FIXED and n_zero < len(parts):
        parts = [
            _as_unsure(part, pair, options)
            for part, pair in zip(parts, pairs, strict=True)
        ]
    combined = _within_range(
        combine_differences(parts, weights=weights, level=options.level), pairs
    )
    reach: SeedReach | None = None
    if any(pair.over_seeds for pair in pairs):
        of_sides = seeds_of_sides(pairs, [part.units for part in parts], weights)
        combined, reach = combined_over_seeds(
            combined, of_sides, bounds=_common_bounds(pairs)
        )
    why = _why_not(pairs, rows, options)
    p_flip: float | None = None
    permutation = ""
    if not why:
        p_flip, permutation = _flip(parts, weights, pairs, combined, options)
    own = []
    for number, (copy_of, row) in enumerate(zip(sharing.copies, rows, strict=True)):
        if copy_of == number:
            own.append(row)
    p = combined.p_value
    if options.test == "permutation":  # the other tests: one benchmark at a time
        p = p_flip
    flags = _flags(rows, combined, n_zero)
    p_equivalence = equivalence_p(
        combined.difference,
        combined.standard_error,
        combined.degrees_of_freedom,
        options,
        reach,
    )
    few = None
    if p_equivalence is not None and reach is None:
        few = _few_differing(pairs, sharing, rows)
    p_equivalence = careful_equivalence(p_equivalence, few, options)
    paired = PairedDifference.of(
        combined,
        mean_a=float(np.mean([row.mean_a for row in own])),
        mean_b=float(np.mean([row.mean_b for row in own])),
        variance_saved=None if reach is not None else _variance_saved(own, combined),
        draws=reach,
        n_prompts=int(sum(first.sum() for first in sharing.first)),
        n_clusters=_clusters(pairs, rows, sharing.units, options),
        method=_method(combined, sharing, of_seeds=reach is not None),
        reason=(
            f"{len(rows)} benchmarks of equal weight; "
            f"{_how(combined, sharing, rows, options, n_zero)}"
        ),
        flags=flags,
        estimand=options.estimand,
    )
    tests = Tests(
        combined.p_value,
        p_flip,
        permutation,
        p_equivalence=p_equivalence,
        reasons=_reasons(why, combined),
    )
    counts = {}
    for name in _COUNTS:
        counts[name] = sum(getattr(row, name) for row in own)
    metric = "several"
    if len({row.metric for row in rows}) == 1:
        metric = rows[0].metric
    return replace(
        rows[0],
        benchmark=OVERALL,
        split="",
        metric=metric,
        condition_a="",
        condition_b="",
        p_value=p,
        p_holm=None,
        better=which_better(
            p, combined.difference, pairs[0].metric.higher_is_better, options.level
        ),
        higher_a=_higher(pairs, sharing, 1),
        higher_b=_higher(pairs, sharing, -1),
        flags=flags,
        runs_a=_runs([row.runs_a for row in rows]),
        runs_b=_runs([row.runs_b for row in rows]),
        equivalent=is_equivalent(p_equivalence, options.level),
        costs=None,
        paired=paired,
        tests=tests,
        **counts,
        **partial_figures(None),
    )


def _within_range(
    combined: CombinedDifference, pairs: Sequence[Pair]
) -> CombinedDifference:
    """With ends that a mean of such differences can have."""
    widths = [pair.figure_range for pair in pairs]
    if combined.ci_low is None or combined.ci_high is None or None in widths:
        return combined
    most = max(width for width in widths if width is not None)
    return replace(
        combined,
        ci_low=max(-most, combined.ci_low),
        ci_high=min(most, combined.ci_high),
    )


def _few_differing(
    pairs: Sequence[Pair], sharing: Sharing, rows: Sequence[ComparisonRow]
) -> FewDiffering | None:
    """All differences with the weights of their benchmarks, where t is not enough on
    one of these.

    Those of planned subsets count alike: strata are of equal size.
    """
    found = [bounded_differences(pair) for pair in pairs]
    bounded = [each for each in found if each is not None]
    if len(bounded) < len(pairs):
        return None
    each = zip(bounded, pairs, rows, strict=True)
    if rows[0].estimand == PROMPTS_FIXED:
        if not any(FEW_VARYING in row.flags for row in rows):
            return None
    elif not any(
        FewDiffering(own[0], pair.units, own[1]).are_few(row.flags)
        for own, pair, row in each
    ):
        return None
    shares = [
        weight * own[2] / own[2].sum()
        for own, weight in zip(bounded, sharing.weights, strict=True)
    ]
    parts = np.repeat(np.arange(len(pairs)), [pair.n for pair in pairs])
    differences = np.concatenate([own[0] for own in bounded])
    units = np.concatenate(sharing.units)
    weights = np.concatenate(shares)
    used = weights > 0
    return FewDiffering(
        differences[used],
        units[used],
        bounded[0][1],
        weights=weights[used],
        parts=parts[used],
    )


def _flags(
    rows: Sequence[ComparisonRow], combined: CombinedDifference, n_zero: int
) -> tuple[str, ...]:
    """The flags of the benchmarks that hold for the mean, and what only a mean can
    have."""
    own = set(chain.from_iterable(row.flags for row in rows))
    few = (combined.degrees_of_freedom or math.inf) < FEW_CLUSTERS - 1
    conditions = {
        PLANNED: PLANNED in own,
        "leaves_without_spread": bool(n_zero and combined.standard_error),
        "few_clusters": few and "few_clusters" in own,
        "weights_concentrated": "weights_concentrated" in own,
        "weights_dominated": "weights_dominated" in own,
        "one_seed": "one_seed" in own,
    }
    of_mean = [flag for flag, holds in conditions.items() if holds]
    return tuple(dict.fromkeys((*of_mean, *combined.flags)))


def _part(
    copy_of: int, pair: Pair, units: Units, row: ComparisonRow
) -> BenchmarkDifference:
    """With the prompts fixed nothing is shared but by a benchmark under another name:
    the draws of two are independent.

    The difference is that of the row, which on a planned subset is not the mean over
    the prompts asked.
    """
    if row.estimand == PROMPTS_FIXED:
        units = np.arange(pair.n, dtype=np.int64) + (copy_of << 40)
    zero = any(
        flag in row.flags for flag in ("all_differences_equal", "zero_standard_error")
    )
    own_error, df = row.standard_error, row.degrees_of_freedom
    if pair.over_seeds:  # the seeds' part is that of all benchmarks together
        own_error, df = error_of_prompts(row)
    error = own_error
    if zero:
        error = 0.0
    differences = pair.differences
    if PLANNED in row.flags:
        differences = differences + (row.difference - differences.mean())
    part = BenchmarkDifference(differences, units, error, df, flags=row.flags)
    if pair.over_seeds or error == 0:
        return part
    return replace(part, low=row.ci_low, high=row.ci_high, p_value=row.p_t)


def _as_unsure(
    part: BenchmarkDifference, pair: Pair, options: Compare
) -> BenchmarkDifference:
    """A benchmark on which nothing differs is not certain either; without bounds
    nothing says how unsure it is."""
    found = None
    if part.error == 0:
        found = bounded_differences(pair)
    if found is None:
        return part
    return replace(part, error=unseen_error(part.units, found[1], options.level))


def _method(combined: CombinedDifference, sharing: Sharing, *, of_seeds: bool) -> str:
    """How the errors of the benchmarks were added up."""
    if sharing.untold and not combined.n_shared:
        method = "summed_parts_t"
    else:
        method = combined.method
    if of_seeds:
        return f"seeds_and_{method}"
    return method


def _common_bounds(pairs: Sequence[Pair]) -> tuple[float | None, float | None] | None:
    """Bounds of the scores, which are the same on all benchmarks; None where there are
    none."""
    if any(pair.metric.link != "identity" for pair in pairs):
        return None
    return pairs[0].metric.bounds


def _why_not(
    pairs: Sequence[Pair], rows: Sequence[ComparisonRow], options: Compare
) -> str:
    if any(pair.over_seeds for pair in pairs):
        return "signs and ranks of prompts know nothing of training seeds"
    if any(PLANNED in row.flags for row in rows):
        return "not for a planned subset"
    if options.estimand == PROMPTS_FIXED:
        return "with the prompts fixed, signs of differences are not exchangeable"
    if any(p.is_ratio for p in pairs):
        return "a ratio of sums is no mean of differences"
    return ""


def _flip(
    parts: Sequence[BenchmarkDifference],
    weights: NDArray[np.float64],
    pairs: Sequence[Pair],
    combined: CombinedDifference,
    options: Compare,
) -> tuple[float, str]:
    """p of flipping whole units in all benchmarks at once, and how it was computed."""
    values, units = contributions(parts, weights)
    plain = not combined.n_shared and all(pair.clusters is None for pair in pairs)
    test = sign_flip_test(
        values,
        None if plain else units,
        n_resamples=options.n_resamples,
        seed=options.seed,
    )
    return test.p_value, test.method


def _variance_saved(
    rows: Sequence[ComparisonRow], combined: CombinedDifference
) -> float | None:
    """Against unpaired models on the same independent benchmarks; None where they share
    prompts."""
    unpaired = 0.0
    for row in rows:
        if (
            row.standard_error is None
            or row.variance_saved is None
            or row.variance_saved == 1
        ):
            return None
        unpaired += row.standard_error**2 / (1 - row.variance_saved) / len(rows) ** 2
    if combined.n_shared or combined.standard_error is None or not unpaired:
        return None
    return 1 - combined.standard_error**2 / unpaired


def _clusters(
    pairs: Sequence[Pair],
    rows: Sequence[ComparisonRow],
    units: Sequence[Units],
    options: Compare,
) -> int | None:
    if options.estimand == PROMPTS_FIXED or any(
        pair.clusters is None for pair in pairs
    ):
        return None
    # of whole benchmarks, which share none
    if any(PLANNED in row.flags for row in rows):
        return sum(row.n_clusters or 0 for row in rows)
    return len(distinct(np.concatenate(units))[0])


def _higher(pairs: Sequence[Pair], sharing: Sharing, sign: int) -> int:
    """Prompts on which one of the two has the higher score, each once."""
    first = zip(pairs, sharing.first, strict=True)
    return int(sum(np.sum(sign * pair.differences[own] > 0) for pair, own in first))


def _how(
    combined: CombinedDifference,
    sharing: Sharing,
    rows: Sequence[ComparisonRow],
    options: Compare,
    n_zero: int,
) -> str:
    """How the errors of the benchmarks were put together, and which benchmarks are one."""
    if not combined.standard_error:
        return combined.reason
    if options.estimand == PROMPTS_FIXED:
        words = (
            "prompts fixed: errors are those of the generations, which no two "
            "benchmarks share"
        )
    else:
        words = sharing_in_words(combined.n_shared, sharing.untold)
    again = copies_in_words([row.benchmark for row in rows], sharing.copies)
    zero = ""
    if combined.n_zero:
        zero = f"{combined.n_zero} with an error of 0 add none"
    n_unsure = n_zero - combined.n_zero
    unsure = ""
    if n_unsure:
        unsure = f"{n_unsure} without spread as unsure as Wilson's intervals at their prompts"
    return "; ".join(filter(None, [words, again, unsure, zero]))


def _reasons(why: str, combined: CombinedDifference) -> tuple[str, ...]:
    single = "made for one benchmark at a time"
    reasons = {"permutation": why, "mcnemar": single, "wilcoxon": single}
    if combined.p_value is None:
        reasons["t"] = combined.reason
    return tuple(f"{name}: {reason}" for name, reason in reasons.items() if reason)


def _runs(ids: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted(set(chain.from_iterable(ids))))
