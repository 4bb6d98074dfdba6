"""Words for tests of differences: sentences, the table of a comparison, and the lines
under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.stats.core.inputs import rejects
from warehouse.stats.core.results import ends_text
from warehouse.tables.view import Table, TableNote
from warehouse.tables.words import (
    cost_in_words,
    counted,
    decimals,
    fixed,
    interval,
    level_column,
    listed,
    meanings,
    number,
    p_value,
    small,
    small_interval,
    some_of,
    span_of,
    visible,
)

if TYPE_CHECKING:
    from warehouse.analysis.comparison.row import ComparisonRow

#: The benchmark of a row that is the mean over several.
OVERALL = "overall"
#: Of two or more, where the test does not separate them.
CANNOT_TELL = "cannot be told apart"
#: What stands in place of the better one where two differ by a metric of no known
#: direction.
NOT_KNOWN = "not known"
#: The same where there is no test, as where all differences are equal.
NO_VERDICT = "no verdict"
#: The same where two have no prompt in common.
NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class Sentence:
    """Words with names of dumps among them."""

    template: str  #: our own words, ``{}`` for each name.
    names: tuple[str, ...] = ()  #: in the order of the template.

    def __str__(self) -> str:
        return self.template.format(*self.names)

    def __add__(self, other: Sentence) -> Sentence:
        return Sentence(self.template + other.template, self.names + other.names)


def better_in_words(row: Any) -> str:
    """``a`` or ``b``, ``neither`` where the test says nothing, or why there is none to
    say: the constants above.

    Args:
        row: with ``better``, ``level``, ``n_prompts``, and ``p_holm`` or else
            ``p_value``, by which it was decided.
    """
    if getattr(row, "n_prompts", None) == 0:
        return NOT_COMPARED
    if row.p_holm is None:
        p = row.p_value
    else:
        p = row.p_holm
    if row.better:
        return str(row.better)
    if p is None:
        return NO_VERDICT
    if rejects(p, 1 - row.level) and not is_held_open(row):
        return NOT_KNOWN
    return "neither"


def is_held_open(row: Any) -> bool:
    """True if the interval of a row holds 0, by which nobody is better whatever its t
    test says: it is the more careful of both where few of many scores differ."""
    low, high = getattr(row, "ci_low", None), getattr(row, "ci_high", None)
    if getattr(row, "test", "t") != "t" or low is None or high is None:
        return False
    return bool(low < 0 < high)


def better_of_pairs(
    better: Sequence[str],
    p_values: NDArray[np.float64],
    n_prompts: NDArray[np.int64],
    alpha: float,
) -> list[str]:
    """:func:`better_in_words` of many.

    Args:
        better: of each ``a``, ``b`` or empty.
        p_values: by which it was decided; NaN where there is none.
        n_prompts: that both have a score of.
        alpha: size of the tests.
    """
    undecided = np.where(
        np.isnan(p_values),
        NO_VERDICT,
        np.where(rejects(p_values, alpha), NOT_KNOWN, "neither"),
    )
    return [
        (own or other) if shared else NOT_COMPARED
        for own, other, shared in zip(
            better, undecided.tolist(), n_prompts.tolist(), strict=True
        )
    ]


def direction_remarks(rows: Iterable[Any]) -> list[str]:
    """Where to say which way a metric is good, for each by which rows differ; for the
    overall row all do."""
    all_rows = list(rows)
    unknown = [row for row in all_rows if better_in_words(row) == NOT_KNOWN]
    chosen = unknown
    if any(row.benchmark == OVERALL for row in unknown):
        chosen = all_rows
    benchmarks: dict[str, list[str]] = {}
    for row in chosen:
        if row.benchmark != OVERALL:
            benchmarks.setdefault(row.metric, []).append(row.benchmark)
    return [
        direction_unknown(metric, *dict.fromkeys(names))
        for metric, names in benchmarks.items()
    ]


def interval_in_words(low: float | None, high: float | None, digits: int) -> str:
    """``[low, high]`` after a blank; empty without both ends."""
    if low is None or high is None:
        return ""
    return f" [{fixed(low, digits)}, {fixed(high, digits)}]"


#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    *(
        "method",
        "p Wilcoxon",
        "p McNemar",
        "correlation",
        "p flip",
        "metric",
        "unscored a",
        "unscored b",
        "only a",
    ),
    *("only b", "split", "clusters", "prompts", "se", "better"),
)
HIDE_EMPTY = (
    "split",
    "p flip",
    "p McNemar",
    "p Wilcoxon",
    "p Holm",
    "equal",
    "p equal",
    "clusters",
    "correlation",
    "method",
    "flags",
    *("cost a", "cost b", "a / b", "cost interval"),
)
#: Columns that a table does without where they are 0.
COUNTS = ("only a", "only b", "unscored a", "unscored b")


def models_of(row: Any) -> list[str]:
    """Which model is a and which is b, of a paired or unpaired row."""
    named = (("a", row.model_a, row.condition_a), ("b", row.model_b, row.condition_b))
    return [
        f"{name} = {visible(model)}{', ' if label else ''}{visible(label)}"
        for name, model, label in named
    ]


def taken_in_words(
    each: Iterable[tuple[str, tuple[str, str], tuple[str, str]]],
) -> list[str]:
    """Which conditions stand for two models, where they are not the same on all
    benchmarks, so that no head says it.

    Args:
        each: the benchmark of a row, and of either side its model and the condition.
    """
    where: dict[str, list[str]] = {}
    for benchmark, *sides in each:
        where.setdefault(
            listed([f"{model} ({label})" for model, label in sides if label]), []
        ).append(benchmark)
    return [
        f"taken on {some_of(names)}: {words}"
        for words, names in where.items()
        if words and len(where) > 1
    ]


def difference_in_words(row: Any) -> tuple[str, str]:
    """The difference of a row with its interval, as its table has them; and its p after
    a comma, empty without one."""
    if not isfinite(row.difference):
        return (
            "none, as scores are infinite",
            "" if row.p_value is None else f", p={row.p_value:.3g}",
        )
    digits = decimals([row.standard_error])
    interval = interval_in_words(row.ci_low, row.ci_high, digits)
    difference = f"{number(row.difference, digits, sign=True)}{interval}"
    return difference, "" if row.p_value is None else f", p={row.p_value:.3g}"


def comparison_table(rows: Sequence[ComparisonRow], *, verbose: bool) -> Table:
    """The rows, without columns that say nothing."""
    return Table.of(
        [_cells(row, verbose) for row in rows],
        hide_empty=HIDE_EMPTY,
        counts=COUNTS,
        minor=MINOR,
    )


def remarks(rows: Sequence[ComparisonRow], *, verbose: bool) -> list[str]:
    """Why rows have no interval; with ``verbose`` whatever there is to say of any."""
    lines: list[str] = []
    for row in rows:
        if row.reason and (row.ci_low is None or verbose):
            lines.append(f"{row.benchmark}: {row.reason}")
        if verbose:
            lines += [f"{row.benchmark}: no {reason}" for reason in row.not_applicable]
    return lines


def few_in_words(rows: Iterable[ComparisonRow]) -> list[str]:
    """Which verdicts rest on few units of a field, two sentences each."""
    said = []
    shown = [row for row in rows if row.benchmark != OVERALL]
    for row in shown:
        if not row.rests_on_few:
            continue
        verb = "carries" if row.carried_count == 1 else "carry"
        on = f" on {row.benchmark}" if len(shown) > 1 else ""
        units = ", ".join(row.carried_units)
        groups = f"{row.carried_count} of {row.carried_of} groups by {row.carried_by}"
        said.append(f"{groups} {verb} the lead{on}: {units}.")
        said.append(f"With these groups as clusters p is {p_value(row.p_by_units)}.")
    return said


def difference_cells(row: Any) -> dict[str, Any]:
    """The first columns of a paired or unpaired row: both figures, the difference and
    its interval."""
    digits = decimals([row.standard_error])
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "a": number(row.mean_a, digits),
        "b": number(row.mean_b, digits),
        "a - b": number(row.difference, digits, sign=True)
        if isfinite(row.difference)
        else None,
        "se": number(row.standard_error, digits),
        level_column(row.level): interval(
            row.ci_low, row.ci_high, digits, at=row.difference
        ),
    }


def _cells(row: ComparisonRow, verbose: bool) -> dict[str, Any]:
    equal = {True: "yes", False: "not shown", None: ""}[row.equivalent]
    method = ""
    if verbose:
        method = row.method
    return {
        **difference_cells(row),
        "p": p_value(row.p_t),
        "p flip": p_value(row.p_permutation),
        "p McNemar": p_value(row.p_mcnemar),
        "p Wilcoxon": p_value(row.p_wilcoxon),
        "p Holm": p_value(row.p_holm),
        "better": better_in_words(row),
        "equal": equal,
        "p equal": p_value(row.p_equivalence),
        "cost a": cost_in_words(row.cost_a, row.cost_metric),
        "cost b": cost_in_words(row.cost_b, row.cost_metric),
        "a / b": small(row.cost_ratio),
        "cost interval": small_interval(row.ratio_low, row.ratio_high, row.cost_ratio),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "only a": row.only_a,
        "only b": row.only_b,
        "unscored a": row.unscored_a,
        "unscored b": row.unscored_b,
        "correlation": number(row.correlation, 2),
        "method": method,
        "flags": row.flags,
    }


#: Columns of the table that a line may be about.
COLUMNS = ("p", "p z", "p flip", "p McNemar", "p Holm", "equal")
#: Characters of a line of words.
WIDTH = 100
#: A clustered error that is less than so many naive ones says nothing of clusters.
CLUSTERS_MATTER = 1.05
_METHODS = {
    "infinite": (
        "tests of signs, as infinite scores have no difference: which of the two is "
        "better on most prompts, and which is infinitely bad on more; p is twice the "
        "smaller of those that point the way of the means"
    ),
    "independent_seeds": (
        "over training seeds: another draw of seeds and other prompts, each with its "
        "own degrees of freedom"
    ),
    "paired_seeds": (
        "over training seeds that go together in both, and prompts, each with its own "
        "degrees of freedom"
    ),
    "paired_t": "t on the difference at each prompt; prompts count as independent",
    "paired_added_prompts": (
        "t on the difference at each prompt; prompts count as independent; because "
        "many prompts differ by the same, the interval counts two more, one won and "
        "one lost (Bonett and Price)"
    ),
    "paired_cr2_t": (
        "t on the differences by cluster (CR2 error, Satterthwaite degrees of "
        "freedom), as prompts of one cluster are not independent"
    ),
    "paired_hull": (
        "scores have no bounds: t on the differences (by cluster, where there are "
        "clusters) and bootstrap-t, the wider end on either side and the larger p"
    ),
    "prompts_fixed_t": (
        "t with the prompts fixed: the error is that of the generations alone, for "
        "these very prompts"
    ),
    "independent_parts_t": "t; the errors of the benchmarks are independent",
    "summed_parts_t": (
        "t; the errors of the benchmarks are added up as if they shared no prompt"
    ),
    "shared_units_t": (
        "t; prompts or clusters that stand in several benchmarks are paired"
    ),
}
_TESTS = {
    "t": "p",
    "permutation": "the sign flip test",
    "mcnemar": "McNemar's test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}


def explain(
    rows: Sequence[ComparisonRow],
    overall: ComparisonRow | None,
    *,
    n_tests: int,
    n_resamples: int,
    seed: int,
) -> list[TableNote]:
    """Sentences for the rows that are shown, for their columns and flags.

    Args:
        rows: those that are shown.
        overall: the mean over benchmarks, if there is one.
        n_tests: that p Holm is adjusted for.
        n_resamples: random patterns of a permutation test that is not exact.
        seed: of these.
    """
    lines = [
        *_how(rows),
        *_clusters(rows),
        *_equation_8(rows),
        *_saved(rows),
        *with_the_rest(rows),
        *_sign_flips(rows, n_resamples, seed),
        *_mcnemar(rows),
        *_chosen(rows),
        *_holm(rows, n_tests),
        *meaning_of_equal(rows),
        *meaning_of_overall(overall, rows),
    ]
    flags = meanings(chain.from_iterable(row.flags for row in rows))
    return [
        *(TableNote(line, column_of(line), WIDTH) for line in lines),
        *(TableNote(line, "flags", WIDTH) for line in flags),
    ]


def column_of(line: str) -> str:
    """The column that a line begins with; empty where it is about no single one."""
    column = line.partition(": ")[0]
    if column in COLUMNS:
        return column
    return ""


def _how(rows: Sequence[ComparisonRow]) -> list[str]:
    """One line for each method of the errors."""
    benchmarks = [row for row in rows if row.benchmark != OVERALL] or rows
    by_method = grouped(benchmarks, lambda row: row.method)
    return [
        f"se, interval and p{_those(own) if len(by_method) > 1 else ''}: "
        f"{_METHODS.get(method, method)}."
        for method, own in by_method.items()
    ]


def _clusters(rows: Sequence[ComparisonRow]) -> list[str]:
    clustered = [row for row in rows if row.n_clusters is not None]
    ratios = []
    for row in clustered:
        if row.standard_error and row.se_unclustered:
            ratios.append(row.standard_error / row.se_unclustered)
    if not ratios or max(ratios) < CLUSTERS_MATTER:
        return []  # chance alone makes it a little smaller or larger
    if min(ratios) < CLUSTERS_MATTER:
        most = f"up to {max(ratios):.2f} times"
        return [f"Clusters make the error {most} that of independent prompts."]
    return [
        f"Clusters make the error {span_of(ratios, '.2f')} times that of independent "
        "prompts."
    ]


def _equation_8(rows: Sequence[ComparisonRow]) -> list[str]:
    """How the paper's clustered error compares with CR2."""
    errors = [row for row in rows if row.se_eq8 and row.standard_error]
    if not errors:
        return []
    if len(errors) == 1:
        (row,) = errors
        return [
            f"Miller's eq. 8 gives se {row.se_eq8:.3g}, CR2 {row.standard_error:.3g}."
        ]
    ratios = [(row.se_eq8 or 0) / (row.standard_error or 1) for row in errors]
    return [f"Miller's eq. 8 gives errors {span_of(ratios, '.2f')} times these (CR2)."]


def _saved(rows: Sequence[ComparisonRow]) -> list[str]:
    saved = [
        round(100 * row.variance_saved)
        for row in rows
        if row.variance_saved is not None
    ]
    if not saved:
        return []
    if max(saved) < 0:
        return [
            f"Pairing by prompt adds {span_of([-value for value in saved], 'd')} % "
            "variance."
        ]
    return [
        f"Pairing by prompt removes {span_of(saved, 'd')} % of the variance that two "
        "separate runs would have."
    ]


def with_the_rest(rows: Sequence[ComparisonRow]) -> list[str]:
    """The partially paired difference of each row that has one."""
    several = len(rows) > 1
    return [
        f"With the {row.only_a} and {row.only_b} prompts that only one "
        f"has{f' on {row.benchmark}' * several}: a - b {row.partial_difference:+.3g} "
        f"{ends_text(row.partial_ci_low, row.partial_ci_high, 3)}, p "
        f"{p_value(row.partial_p_value)} (paired and unpaired, weighted by inverse "
        "variance)."
        for row in rows
        if row.partial_difference is not None
        and row.partial_ci_low is not None
        and row.partial_ci_high is not None
    ]


def _sign_flips(
    rows: Sequence[ComparisonRow], n_resamples: int, seed: int
) -> list[str]:
    kinds = {row.permutation for row in rows if row.permutation}
    if not kinds:
        return []
    clustered = [row.n_clusters is not None for row in rows if row.permutation]
    what = "differences"
    if all(clustered):
        what = "cluster sums"
    if any(clustered) and not all(clustered):
        what = "differences, or of cluster sums,"
    how = "exact"
    if "monte_carlo" in kinds:
        drawn = f"{n_resamples} random patterns (seed {seed})"
        how = drawn
        if kinds != {"monte_carlo"}:
            how = f"exact, or {drawn}"
    return [
        "p flip: permutation test that the differences are symmetric about 0, signs of "
        f"{what} flipped; {how}."
    ]


def _mcnemar(rows: Sequence[ComparisonRow]) -> list[str]:
    if all(row.p_mcnemar is None for row in rows):
        return []
    return ["p McNemar: exact test of the prompts that only one of them has right."]


def _held_open(rows: Sequence[ComparisonRow]) -> list[str]:
    """Where p is small and the interval holds 0."""
    for row in rows:
        p = row.p_value if row.p_holm is None else row.p_holm
        if rejects(p, 1 - row.level) and is_held_open(row):
            return [
                "better: nobody where the interval holds 0, whatever p says: it is the "
                "more careful of both where few questions differ."
            ]
    return []


def _chosen(rows: Sequence[ComparisonRow]) -> list[str]:
    """Where another test than t was asked for: what it decides, and where it is
    missing."""
    test = rows[0].test
    level = rows[0].level
    if test == "t":
        return _held_open(rows)
    decides = f"better goes by {_TESTS[test]} at {1 - level:.2g}."
    lines = [decides]
    if any(row.p_holm is not None for row in rows):
        lines = []
    not_applicable = chain.from_iterable(
        row.not_applicable for row in rows if row.p_value is None
    )
    reasons = dict.fromkeys(
        reason.partition(": ")[2]
        for reason in not_applicable
        if reason.startswith(test)
    )
    name = _TESTS[test][:1].upper() + _TESTS[test][1:]
    return lines + [
        f"{name} is left out where it does not apply: {why}." for why in reasons
    ]


def _holm(rows: Sequence[ComparisonRow], n_tests: int) -> list[str]:
    named = sum(row.p_holm is not None for row in rows)
    if not named:
        return []
    test = _TESTS[rows[0].test]
    level = rows[0].level
    return [
        f"p Holm: {test} adjusted for {tests_in_words(n_tests, named)}; better goes by "
        f"it at {1 - level:.2g}."
    ]


def tests_in_words(n_tests: int, n_names: int) -> str:
    """How many benchmarks were tested, and that some are one under several names."""
    tested = counted(n_tests, "benchmark")
    if n_names > n_tests:
        return f"{tested} (one that has several of the {n_names} names counts once)"
    return tested


def meaning_of_equal(rows: Sequence[ComparisonRow]) -> list[str]:
    """The line on what equal means; none without a margin."""
    margin = rows[0].margin
    level = rows[0].level
    if margin is None:
        return []
    percent = 100 * (2 * level - 1)
    inside = f"the {percent:g}% interval lies inside ±{margin:g}"
    flags = chain.from_iterable(row.flags for row in rows)
    few = any(flag.startswith(("few_", "heavy_")) for flag in flags)
    also = ""
    if few:
        also = ", and where few prompts or clusters differ, or unevenly, by Gaffke's test too"
    return [
        f"equal: yes where {inside} (two one-sided tests; p equal is the larger "
        f"p){also}."
    ]


def meaning_of_overall(
    overall: ComparisonRow | None, rows: Sequence[ComparisonRow]
) -> list[str]:
    """The line on what the row over all benchmarks is; none where it is not shown."""
    if overall is None or overall not in rows:
        return []
    by = ""
    if rows[0].test not in ("t", overall.test):
        by = "; its p is t's"
    return [f"overall: mean over {overall.reason}{by}."]


def _those(rows: Sequence[ComparisonRow]) -> str:
    return (
        " "
        f"({', '.join(row.benchmark for row in rows[:5])}{' ...' if len(rows) > 5 else ''})"
    )
