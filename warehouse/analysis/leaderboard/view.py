"""A leaderboard as people are shown it: its table, and how the figures were made, in
words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.suites.row import SuiteRow
from warehouse.stats.core.draws import PROMPTS_FIXED
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.rows.seed_row import TOO_FEW
from warehouse.tables.view import Table, TableNote
from warehouse.tables.words import (
    decimals,
    interval,
    level_column,
    number,
    reasons,
    seeds_in_words,
    span_of,
)

#: Columns of what clusters do to the variance, by CR2 and by the paper's error.
EFFECTS = ("design effect", "design effect (Miller)")
#: Columns that a table does without where they are empty.
HIDE_EMPTY = (
    "stat. rank",
    "rank set",
    "group",
    "handful",
    "condition",
    "split",
    "clusters",
    "bounds",
    "bounds with error",
    *EFFECTS,
    "method",
    "flags",
    "recomputed part",
    "seeds",
)
#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    "handful",
    "method",
    EFFECTS[1],
    "recomputed part",
    "bounds with error",
    EFFECTS[0],
    "stat. rank",
    "group",
    "runs",
    "split",
    "draws",
    "bounds",
    "clusters",
    "se",
    "prompts",
    "rank set",
)


def leaderboard_table(rows: Sequence[LeaderboardRow], *, verbose: bool) -> Table:
    """The rows, without columns that say nothing here, or only what the heading says."""
    digits = decimals(row.standard_error for row in rows)
    hidden = _hidden(rows, verbose)
    cells = []
    for row in rows:
        cells.append(
            {
                name: cell
                for name, cell in _cells(row, digits).items()
                if name not in hidden
            }
        )
    return Table.of(cells, hide_empty=HIDE_EMPTY, minor=MINOR)


def unranked_table(rows: Sequence[LeaderboardRow]) -> Table:
    """Rows of several benchmarks that have one model each, with as many decimals as
    each has."""
    kept = ("split", "prompts", "clusters", "flags")
    cells = []
    for row in rows:
        digits = decimals([row.standard_error])
        shown = _cells(row, digits)
        estimate = number(row.estimate, digits)
        ends = interval(row.ci_low, row.ci_high, digits, at=row.estimate)
        cells.append(
            {
                "benchmark": row.benchmark,
                "model": row.model,
                "metric": row.metric,
                "estimate": estimate,
            }
            | {level_column(row.level): ends}
            | {name: shown[name] for name in kept}
        )
    return Table.of(
        cells, hide_empty=HIDE_EMPTY, minor=("split", "clusters", "flags", "metric")
    )


def reasons_of(rows: Sequence[LeaderboardRow], *, verbose: bool) -> list[str]:
    """Why rows have no figure; with ``verbose`` whatever there is to say of any."""
    return reasons(
        [(row, row.reason) for row in rows if row.estimate is None or verbose]
    )


def legend_lines(legend: Iterable[str]) -> list[TableNote]:
    """Lines ``column: meaning``, below a table that shows the column."""
    return [TableNote(line, line.partition(": ")[0]) for line in legend]


def _hidden(rows: Sequence[LeaderboardRow], verbose: bool) -> set[str]:
    """Columns that say nothing here, or only what the heading says."""
    if verbose:
        hidden = set()
    else:
        hidden = {"method", "bounds", "bounds with error", *EFFECTS}
    if not any(row.group for row in rows):
        hidden.add("stat. rank")
        if not any("planned" in row.flags for row in rows):
            hidden.add("rank set")
    if len({row.metric for row in rows}) == 1:
        hidden.add("metric")
    if all(row.runs == 1 for row in rows):
        hidden.add("runs")
    if all(row.n_draws in (0, row.n_prompts) for row in rows):
        hidden.add("draws")
    return hidden


def _cells(row: LeaderboardRow, digits: int) -> dict[str, Any]:
    low, high = row.rank_low, row.rank_high
    ranks = None
    if low is not None:
        ranks = str(low) if low == high else f"{low}-{high}"
    return {
        "rank": row.rank,
        "stat. rank": row.statistical_rank,
        "rank set": ranks,
        "group": row.group,
        "model": row.model,
        "condition": row.condition,
        "metric": row.metric,
        "split": row.split,
        "estimate": number(row.estimate, digits),
        "se": number(row.standard_error, digits),
        level_column(row.level): _ends(row, digits),
        "handful": row.handful,
        "seeds": seeds_in_words(row.seed_means, row.n_seeds, digits),
        "recomputed part": _part(row, digits),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "draws": row.n_draws,
        "runs": row.runs,
        "bounds": interval(row.unscored_low, row.unscored_high, digits),
        "bounds with error": interval(
            row.unscored_ci_low, row.unscored_ci_high, digits
        ),
        EFFECTS[0]: number(row.design_effect, 2),
        EFFECTS[1]: number(row.design_effect_miller, 2),
        "method": row.method,
        "flags": [flag_words(flag, row) for flag in row.flags],
    }


def _ends(row: LeaderboardRow, digits: int) -> Any:
    """The interval; nothing where it says nothing for want of seeds, whose figures
    stand beside it."""
    if TOO_FEW in row.flags:
        return None
    return interval(row.ci_low, row.ci_high, digits, at=row.estimate)


def _part(row: LeaderboardRow, digits: int) -> str:
    """The figure of the samples of a truncated run that publishes another one."""
    if row.part_estimate is None:
        return ""
    ends = interval(row.part_ci_low, row.part_ci_high, digits)
    figure = f"{number(row.part_estimate, digits)} {ends or ''}".strip()
    return f"{figure} of {row.part_n_prompts}"


def flag_words(flag: str, row: LeaderboardRow | SuiteRow) -> str:
    """A flag; the one of unscored samples with their share, never rounded down to none."""
    if flag != "unscored":
        return flag
    share = row.share_unscored
    return f"unscored {'<0.1' if share < 0.001 else f'{100 * share:.1f}'}%"


#: A clustered error that is less than so many naive ones says nothing of clusters.
CLUSTERS_MATTER = 1.05
#: An interval so many times as wide as the normal one says why.
WIDE = 1.5

#: Second intervals that are shown.
_SECOND = 5
#: Those that are only of interest where the scores are skewed.
_USUAL, _SKEWED = ("t", "cr2_t"), "skewed"


def describe_basis(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    """Lines on intervals and on errors; none for what no row has."""
    shown = [row for row in rows if row.estimate is not None]
    yield from _intervals(shown)
    yield from _errors(shown)
    yield from _second_intervals(shown)


def _intervals(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    """One line for each method, the commonest first, with the reason that most rows
    give."""
    names = [_method(row) for row in rows]
    methods = Counter(names)
    for name, count in methods.most_common():
        own = [
            row.reason
            for row, method in zip(rows, names, strict=True)
            if method == name
        ]
        counts = Counter(own)
        reasons = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        number = ""
        if len(methods) > 1:
            number = f" ({count} of {len(rows)} rows)"
        more = ""
        if len(reasons) > 1:
            more = ", and the like"
        reason = reasons[0][0] + more
        yield f"{name}{number}: {reason}"


def _method(row: LeaderboardRow) -> str:
    if row.method == "published":
        return "published figures"
    if row.ci_low is None:
        return "no interval"
    return f"intervals by {row.method}"


def estimand_lines(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    """What the errors are errors of, where that is not other prompts alone."""
    if any(row.estimand == PROMPTS_FIXED for row in rows):
        yield "prompts fixed: errors are those of asking these very prompts again"
        return
    over_seeds = [
        row for row in rows if row.over_seeds is not None and row.method != "published"
    ]
    if over_seeds:
        clusters = ""
        if any(row.n_clusters is not None for row in over_seeds):
            clusters = " in clusters"
        yield (
            f"over seeds: errors are those of other prompts{clusters} and of another "
            "draw of seeds"
        )


def _errors(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    yield from estimand_lines(rows)
    if any(row.estimand == PROMPTS_FIXED for row in rows):
        return
    rows = [row for row in rows if row.over_seeds is None]
    clustered = [
        row for row in rows if row.n_clusters is not None and row.design_effect
    ]
    if clustered:
        yield _clustered(clustered)
        yield from _wide(clustered)
    elif any(row.standard_error and row.method != "published" for row in rows):
        yield "errors take prompts for independent: no clusters"


def _clustered(rows: Sequence[LeaderboardRow]) -> str:
    """The effect of clusters on the standard errors; a ratio of about 1 or below is
    chance and is not reported."""
    ratios = [math.sqrt(row.design_effect or 0) for row in rows]
    clusters = f"{span_of([row.n_clusters or 0 for row in rows], 'd')} clusters"
    if max(ratios) < CLUSTERS_MATTER:
        return f"errors allow for {clusters}, and are no larger than the naive ones"
    most = rows[ratios.index(max(ratios))]
    if min(ratios) < CLUSTERS_MATTER:
        times = f"up to {max(ratios):.1f}"
    else:
        times = span_of(ratios, ".1f")
    return (
        f"errors are {times} x the naive ones because of {clusters} ({most.model}:"
        f" {most.standard_error:.2g}, naive {most.se_naive:.2g})"
    )


def _wide(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    """Why an interval is much wider than its error lets expect."""
    for row in rows:
        if None in (row.ci_low, row.ci_high) or not row.standard_error:
            continue
        width = (row.ci_high or 0.0) - (row.ci_low or 0.0)
        if width < WIDE * usual_width(row):
            continue
        freedom = ""
        if row.degrees_of_freedom is not None:
            freedom = (
                f": its error rests on {row.degrees_of_freedom:.2g} degrees of freedom"
            )
        condition = ""
        if row.condition:
            condition = f" {row.condition}"
        yield (
            f"{row.model}{condition}: the interval is {width / usual_width(row):.1f} x "
            f"as wide as with many clusters{freedom} ({row.n_clusters} clusters, "
            "unequal or few)"
        )


def usual_width(row: LeaderboardRow) -> float:
    """Width of the normal interval at the row's level."""
    return 2 * z_quantile(row.level) * (row.standard_error or 0.0)


def _second_intervals(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    with_second = [
        row
        for row in rows
        if row.beside_method
        and (row.beside_method not in _USUAL or _SKEWED in row.flags)
    ]
    for row in with_second[:_SECOND]:
        ends = f"[{row.beside_ci_low:.4g}, {row.beside_ci_high:.4g}]"
        condition = ""
        if row.condition:
            condition = f" {row.condition}"
        yield (
            f"{row.model}{condition}: {row.beside_method} gives {ends}; "
            f"{_why_second(row)}"
        )
    if len(with_second) > _SECOND:
        yield f"and {len(with_second) - _SECOND} more second intervals: --json has all"


def _why_second(row: LeaderboardRow) -> str:
    if row.beside_method in _USUAL:
        return "the data are skewed"
    return "the data are few"


def describe_ranks(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    """Lines on what statistical ranks, letters and rank sets say; nothing where there
    are none."""
    tested = [row for row in rows if row.group and row.statistical_rank is not None]
    if not tested:
        return
    size = round(1 - tested[0].level, 10)
    yield (
        "stat. rank: 1 + number of models significantly better (Holm over all pairs, "
        f"{size:g})"
    )
    yield "group: models that share a letter cannot be told apart (the same tests)"
    yield "handful: fewest questions without which the row below leads; no test"
    draws = max(row.rank_draws for row in tested)
    if draws:
        share = f"{100 * tested[0].level:g}%"
        yield (
            f"rank set: where a model's true rank is, at {share} (max-|T|, {draws} "
            "draws)"
        )
