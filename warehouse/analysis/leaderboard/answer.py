"""Every condition on one benchmark, or on each, with its figure, its interval and its
place."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from warehouse.analysis.comparison.notes import not_compared_notes
from warehouse.analysis.leaderboard.brief import brief_table, heading, unit_of
from warehouse.analysis.leaderboard.hooks import ROWS_ON_PLANS, Line, RowsOnPlans
from warehouse.analysis.leaderboard.question import (
    OneLeaderboard,
    Ranking,
)
from warehouse.analysis.leaderboard.row import (
    STOPPED,
    LeaderboardRow,
    RowRanks,
    make_row,
)
from warehouse.analysis.leaderboard.view import (
    describe_basis,
    describe_ranks,
    estimand_lines,
    leaderboard_table,
    legend_lines,
    reasons_of,
)
from warehouse.analysis.leaderboard.words import (
    counted_left_out,
    in_short,
    label_of,
    row_notes,
    rows_in_words,
)
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.other_metrics import (
    MOST_TOLD,
    OtherMetric,
    describe_others,
)
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.selection.score_matrix import (
    LastPairs,
    ScoreTable,
    score_table,
    too_many,
)
from warehouse.analysis.selection.score_ranges import (
    are_mixed,
    mixed_scales,
    unstated_bounds,
)
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    headline_first,
    is_partial,
    list_differences,
    list_editions,
    scorers_in_words,
)
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.questions.options import PROMPTS_SAMPLED
from warehouse.questions.question import answers
from warehouse.records.score_span import ScoreSpan
from warehouse.stats import handful_to_next
from warehouse.store.connection import Store
from warehouse.tables.view import TableNote, View
from warehouse.tables.words import MIXED_SCALES, direction, listed, some_of, visible


@dataclass(frozen=True)
class Leaderboard(Result):
    """Rows in order of rank; those of another split, task version or metric come after,
    and rows without a rank after all that have one.
    """

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    #: direction of the ranks; None if unknown (then higher is first).
    higher_is_better: bool | None
    rows: tuple[LeaderboardRow, ...]
    notes: tuple[str, ...]  #: what a reader should know before comparing rows.
    #: in words, how intervals and errors were made, and why so.
    basis: tuple[str, ...] = ()
    #: in words, what the statistical ranks say; empty where there are none.
    legend: tuple[str, ...] = ()
    #: the metrics that are not shown, and how many conditions have figures of each.
    others: tuple[OtherMetric, ...] = ()
    #: rows that have no rank beside the first: on a part of the benchmark, stopped,
    #: without a figure.
    n_left_out: int = 0
    #: of these the number with a better figure than the first.
    left_out_higher: int = 0
    #: in words, what errors are errors of, where that is not other prompts alone.
    covers: tuple[str, ...] = ()
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    policy: str = ""  #: what unscored samples count as; empty: they are missing.

    @property
    def one_line(self) -> str:
        first = in_short(self.rows, self.higher_is_better)
        size = f"{len(self.rows)} conditions"
        return f"{self.benchmark} by {self.metric}: {size}{first}"

    @property
    def sentence(self) -> str:
        """Who is first, by how much, and who cannot be told from it; empty without
        rows."""
        if self.rows:
            return str(rows_in_words(self.rows, self.higher_is_better))
        return ""

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """The sentence and the table of the command.

        Args:
            verbose: every column, how figures were made, and what columns mean.
            top: rows of the table; None: of many those that a reader looks for first;
                0: all.
        """
        if verbose:
            return self._explained()
        unit = unit_of(self.rows, in_percent=self.is_share)
        sentence = []
        if self.rows:
            words = rows_in_words(self.rows, self.higher_is_better, unit)
            sentence = [visible(str(words))]
        table = brief_table(self.rows, unit, self.higher_is_better, top=top)
        head = heading(self.benchmark, self.metric, self.rows, self.higher_is_better)
        head += policy_words(self.policy)
        others = describe_others(self.others, MOST_TOLD)
        return View(
            (head, *sentence, "", table, *self.covers, *filter(None, [others])),
            (*self.notes, *reasons_of(self.rows, verbose=False)),
        )

    def _explained(self) -> View:
        """The sentence and every column, how they were made, and what they mean."""
        head = f"{self.benchmark} by {self.metric} ({direction(self.higher_is_better)})"
        table = leaderboard_table(self.rows, verbose=True)
        others = describe_others(self.others)
        if others:
            others_note = [others]
        else:
            others_note = []
        under_table: list[str | TableNote] = [
            *self.basis,
            *legend_lines(self.legend),
            *others_note,
        ]
        sentence = []
        if self.rows:
            sentence = [visible(self.sentence)]
        return View(
            (head, *sentence, table, *under_table),
            (*self.notes, *reasons_of(self.rows, verbose=True)),
        )


@answers(OneLeaderboard)
def leaderboard(store: Store, question: OneLeaderboard) -> Leaderboard:
    """A row is one condition; its repeats are pooled as draws. Conditions are ranked
    among those with the same split, task version, metric and judge.

    Raises:
        MisuseError: unknown benchmark, metric, clustering or field; a suite; nothing to
            show.
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """
    return board_of(select_entries(store, selection_of(question)), question)


def board_of(scores: BenchmarkScores, options: Ranking) -> Leaderboard:
    """The leaderboard of scores that were read; asks the store nothing.

    Args:
        scores: every condition with its scores.

    Raises:
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """
    if scores.plans is None:
        planned = None
    else:
        planned = ROWS_ON_PLANS.load()(scores, options)
    groups = rank_rows(scores, options, planned)
    rows = sorted(chain.from_iterable(groups), key=_has_no_rank)
    names = tuple(other.metric for other in scores.others)
    ranked = [replace(row, other_metrics=names) if names else row for _, row in rows]
    notes = [
        *_notes(rows, scores.subset_ok),
        *filter(None, [scores.clusters.note]),
        *scores.notes,
    ]
    notes += unscored_notes(scores, rows)
    basis = [*describe_basis(ranked)]
    covers = [*estimand_lines(ranked)]
    if planned is not None:
        notes += planned.refusals
        basis += planned.describe(ranked)
        covers += planned.describe(ranked)
    notes += filter(None, [scores.names_advice])
    if not rows:
        notes.append(_nothing_to_rank(scores.benchmark.name))
    if ranked:
        n_left_out = ranked[0].n_left_out
        left_out_higher = ranked[0].left_out_higher
    else:
        n_left_out = 0
        left_out_higher = 0
    return Leaderboard(
        benchmark=scores.benchmark.name,
        metric=scores.metric.label,
        higher_is_better=scores.metric.higher_is_better,
        rows=tuple(ranked),
        n_left_out=n_left_out,
        left_out_higher=left_out_higher,
        notes=tuple(notes),
        basis=tuple(basis),
        legend=tuple(describe_ranks(ranked)),
        others=scores.others,
        covers=tuple(covers),
        is_share=scores.metric.bounds == (0.0, 1.0),
        policy=scores.policy.text,
    )


def rank_rows(
    scores: BenchmarkScores, options: Ranking, planned: RowsOnPlans | None = None
) -> list[list[Line]]:
    """The rows of a benchmark in groups of what can be compared, ranked.

    Args:
        planned: runs on stored plans; their rows stand among those with all prompts by
            the figure that their sample gives of the whole benchmark.

    Raises:
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """
    rows = [
        (
            entry,
            make_row(entry, scores.clusters, options, scores.coverages[entry.group]),
        )
        for entry in scores.entries
    ]
    on_plans: list[Line] = []
    if planned is not None:
        rows, on_plans = planned.divide(rows)
    groups = [_with_scales(group) for group in _ranked(rows, scores.subset_ok)]
    if options.estimand == PROMPTS_SAMPLED:
        groups = [
            with_ranks(group, scores.clusters, options, LastPairs.among(scores))
            for group in groups
        ]
    if planned is not None:
        groups = planned.insert(groups, on_plans)
    return [_with_left_out(group) for group in groups]


def _with_scales(group: list[Line]) -> list[Line]:
    """A flag at each figure that may be on another scale than others."""
    if group[0][0].metric.link != "identity" or not are_mixed(
        _spans(*line) for line in group
    ):
        return group
    flagged = []
    for entry, row in group:
        if any(span.scale for span in _spans(entry, row)):
            row = replace(row, flags=(*row.flags, MIXED_SCALES))
        flagged.append((entry, row))
    return flagged


def _spans(entry: ScoredCondition, row: LeaderboardRow) -> tuple[ScoreSpan, ...]:
    """Between which values lie the scores that a figure rests on, and itself where it
    is a published one."""
    if entry.scores is not None and entry.stopped is None:
        scored = entry.scores.spans
    else:
        scored = ()
    figure = None
    if row.method == "published":
        figure = row.estimate
    if figure is None:
        return scored
    return (*scored, ScoreSpan.of(figure))


def _with_left_out(group: Sequence[Line]) -> list[Line]:
    rows = counted_left_out(
        [row for _, row in group], group[0][0].metric.higher_is_better
    )
    return [(entry, row) for (entry, _), row in zip(group, rows, strict=True)]


def _ranked(rows: Sequence[Line], subset_ok: bool) -> list[list[Line]]:
    """Rows in groups of what can be compared, the headline scorer's and the largest
    first, each in order of rank."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    for entry, row in rows:
        groups.setdefault(entry.group, []).append((entry, row))
    order = sorted(
        groups.values(),
        key=lambda group: headline_first(group[0][0].metric, len(group)),
    )
    return [_rank_group(group, subset_ok) for group in order]


def _rank_group(group: Sequence[Line], subset_ok: bool) -> list[Line]:
    """Rows with a rank, best first, then the others by their figure, then those without
    one."""
    sign = -1.0
    if group[0][0].metric.higher_is_better is False:
        sign = 1.0
    keys = {
        id(row): _order(entry, row, sign)
        for entry, row in group
        if row.estimate is not None
    }
    lines = [line for line in group if line[1].estimate is not None]
    lines.sort(key=lambda line: (*keys[id(line[1])], *_words(line[1])))
    whole = [row for _, row in lines if STOPPED not in row.flags and not row.no_place]
    best = min(map(_standing, whole), default=0)
    eligible = [row for row in whole if subset_ok or _standing(row) == best]
    first: dict[tuple[float, float], int] = {}
    ranks: dict[tuple[int, ...], int] = {}
    # those of equal figures share the place of the first
    for place, row in enumerate(eligible, 1):
        ranks[row.run_ids] = first.setdefault(keys[id(row)], place)
    rest = [line for line in group if line[1].estimate is None]
    ranked = [
        (entry, replace(row, rank=ranks.get(row.run_ids)))
        for entry, row in lines + rest
    ]
    return sorted(ranked, key=_has_no_rank)


def _order(
    entry: ScoredCondition, row: LeaderboardRow, sign: float
) -> tuple[float, float]:
    """The key that sorts rows, the best first: a model with an infinite score is below
    every one without, the oftener the lower; figures at 12 significant digits, as what
    differs only by rounding is a tie.

    Args:
        sign: 1 where lower is better, else −1.
    """
    if row.infinite is None:
        return 0.0, sign * float(f"{row.estimate:.12g}")
    share, mean = row.infinite.order
    of_scores = sign
    if entry.metric.link != "identity":
        of_scores = -sign  # links turn the order of scores round
    return of_scores * share, of_scores * float(f"{mean:.12g}")


def _has_no_rank(line: Line) -> bool:
    return line[1].rank is None


def _standing(row: LeaderboardRow) -> int:
    """The rows that a row is ranked among, the first that a group has: 0 for scores of
    all prompts, 1 for published figures, 2 for a single prompt, 3 for a part of the
    benchmark."""
    if is_partial(row.flags):
        return 3
    if row.method == "published":
        return 1
    if row.n_prompts < 2:
        return 2
    return 0


def _words(row: LeaderboardRow) -> tuple[str, str]:
    """A key that orders rows of one figure, whichever came first into the store."""
    return row.model, row.condition


def _rows(number: int) -> str:
    if number == 1:
        return "1 row"
    return f"{number} rows"


def _unranked(rows: Sequence[LeaderboardRow], subset_ok: bool) -> Iterator[str]:
    """Rows that have a figure and no rank, and why."""
    kinds = {
        3: "on a part of the benchmark",
        2: "on a single prompt",
        1: "with published figures",
    }
    unranked = [
        row
        for row in rows
        if row.estimate is not None and row.rank is None and not row.no_place
    ]
    left = [_standing(row) for row in unranked if STOPPED not in row.flags]
    stopped = len(unranked) - len(left)
    if stopped:
        yield (
            f"{_rows(stopped)} of runs that were stopped early because of their "
            "scores: not ranked"
        )
    for kind, words in kinds.items():
        if kind in left and not subset_ok:
            how = "not ranked"
            if kind < 3:
                how = "not ranked beside those with scores of all prompts"
            yield f"{_rows(left.count(kind))} {words} {how} (subset_ok ranks them)"
    cut = sum(row.part_estimate is not None for row in rows)
    if cut:
        yield (
            f"{_rows(cut)} of truncated runs: the figure is the published one, beside "
            "it that of the samples that are stored"
        )


def _nothing_to_rank(benchmark: str) -> str:
    return (
        "no condition has scores of its prompts as they stand, or published figures of "
        "its own; scores of perturbations, if it has any: warehouse noise templates "
        f"{shlex.quote(benchmark)} --factor perturbation"
    )


def _notes(rows: Sequence[Line], subset_ok: bool) -> list[str]:
    notes = list(_unranked([row for _, row in rows], subset_ok))
    notes += row_notes([row for _, row in rows])
    others = sum("other_prompts" in row.flags for _, row in rows)
    if others:
        notes.append(
            f"{_rows(others)} saw other prompts than most (compare pairs the common "
            "ones)"
        )
    if differing := list_differences({entry.group for entry, _ in rows}):
        notes.append(f"rows differ in {listed(differing)}; each group is ranked alone")
    if scorers := scorers_in_words(entry for entry, _ in rows):
        notes.append(scorers)
    if editions := list_editions(entry for entry, _ in rows):
        notes.append(f"rows differ in {editions} takes one alone")
    unknown = dict.fromkeys(
        (entry.metric.label, entry.condition.benchmark_split[0])
        for entry, _ in rows
        if entry.metric.higher_is_better is None
    )
    notes += [
        f"higher is ranked first; {direction_unknown(*names)}" for names in unknown
    ]
    named = [
        (entry.condition.benchmark_split[0], entry.metric, entry, row)
        for entry, row in rows
    ]
    notes += not_compared_notes((label_of(row), row.n_not_compared) for _, row in rows)
    notes += mixed_scales(
        (name, metric, _spans(entry, row)) for name, metric, entry, row in named
    )
    usable = ((name, metric, entry.usable) for name, metric, entry, _ in named)
    notes += unstated_bounds(
        (name, metric, scores) for name, metric, scores in usable if scores is not None
    )
    return notes


def with_ranks(
    lines: Sequence[Line], clusters: ClusterMap, options: Ranking, tested: LastPairs
) -> list[Line]:
    """The rows of one group with their statistical ranks, rank sets and letters.

    Only rows with a rank and with prompt scores take part; the others say why they do
    not.
    """
    placed = [line for line in lines if line[1].rank is not None and _has_scores(*line)]
    figures = iter(
        _row_ranks([entry for entry, _ in placed], clusters, options, tested)
    )
    chosen = {id(entry) for entry, _ in placed}
    return [
        (
            entry,
            replace(
                row,
                ranks=next(figures)
                if id(entry) in chosen
                else RowRanks(rank_reason=_why_not_placed(row)),
            ),
        )
        for entry, row in lines
    ]


def _row_ranks(
    entries: Sequence[ScoredCondition],
    clusters: ClusterMap,
    options: Ranking,
    tested: LastPairs,
) -> list[RowRanks]:
    """The ranks of each row."""
    if len(entries) < 2:
        return [RowRanks(1, 1, 1, 1, 1)] * len(entries)
    if why := too_many(len(entries)):
        return [RowRanks(rank_reason=why)] * len(entries)
    table = score_table(entries, clusters)
    if not len(table.prompts):
        return [RowRanks(rank_reason="no prompt that all rows have a score on")] * len(
            entries
        )
    least = math.ceil(options.level / (1 - options.level))
    found = tested.of(
        table,
        level=options.level,
        seed=options.seed,
        n_resamples=options.n_resamples if options.n_resamples >= least else 0,
        higher_is_better=entries[0].metric.higher_is_better is not False,
    )
    ranking, apart, groups = found.ranks, found.apart, found.letters
    names = (
        "statistical_rank",
        "rank_low",
        "rank_high",
        "rank_low_joint",
        "rank_high_joint",
    )
    rows = zip(*(getattr(ranking, name) for name in names), strict=True)
    errors = found.pairs.standard_error[found.pairs.second == found.pairs.first + 1]
    carried = _handful_to_next(entries, table)
    return [
        RowRanks(
            **dict(zip(names, ranks, strict=True)),
            group=letters,
            n_not_compared=n_apart,
            rank_draws=ranking.n_resamples,
            rank_reason="" if ranks[0] else "no pair with another row could be tested",
            next_has_error=error > 0,
            handful=count,
        )
        for ranks, letters, n_apart, error, count in zip(
            rows, groups, apart, [*errors.tolist(), 0.0], carried, strict=True
        )
    ]


def _handful_to_next(
    entries: Sequence[ScoredCondition], table: ScoreTable
) -> list[int | None]:
    """How few questions carry the place of each row; nothing where figures are no plain
    means of questions."""
    metric = entries[0].metric
    if table.is_weighted or metric.link != "identity":
        return [None] * len(entries)
    values = table.values
    if metric.higher_is_better is False:
        values = -values
    return [*handful_to_next(values), None]


def _has_scores(entry: ScoredCondition, row: LeaderboardRow) -> bool:
    """True if the figure is that of scores, which can be paired with others."""
    return entry.usable is not None and row.method != "published"


def _why_not_placed(row: LeaderboardRow) -> str:
    if row.estimate is None:
        return "no figure"
    if row.no_place:
        return row.no_place
    if row.infinite is not None:
        return "an infinite mean has no error; compare tests two models all the same"
    if STOPPED in row.flags:
        return "stopped early because of its scores"
    if is_partial(row.flags) and row.rank is None:
        return "a part of the benchmark"
    if row.method == "published":
        return "published figures have no prompts to pair"
    return "a single prompt"


#: Models that a note names.
_SHOWN = 3
#: By how much a figure may differ from a published one, as a share of the scale, and be
#: that one rounded.
_ROUNDED = 0.0005


def unscored_notes(scores: BenchmarkScores, lines: Sequence[Line]) -> list[str]:
    """Notes where samples without a score are missing; none under a policy.

    Args:
        scores: that the rows were made of.
    """
    if scores.policy.policy is not None:
        return []
    return [*_many_missing(scores, lines), *_published_otherwise(lines)]


def _many_missing(scores: BenchmarkScores, lines: Sequence[Line]) -> list[str]:
    """What else unscored samples may count as, where there are many."""
    many = [label_of(row) for _, row in lines if "many_unscored" in row.flags]
    if not many:
        return []
    ways = ["--policy all-wrong counts them as wrong"]
    if scores.can_read_attempts:
        ways.append("--policy attempts limits, refusals and missing answers alone")
    return [
        f"many samples have no score, and are missing here: {some_of(many, _SHOWN)}; "
        f"{', '.join(ways)}"
    ]


def _published_otherwise(lines: Sequence[Line]) -> list[str]:
    """Rows whose source publishes the figure that has samples without a score as
    wrong."""
    named = []
    for entry, row in lines:
        published = _published_as_wrong(entry, row)
        if published is not None:
            named.append(f"{label_of(row)} {published:.4g}")
    if not named:
        return []
    return [
        "published figures are others, as samples without a score count as wrong in "
        f"them: {listed(named)}; --policy all-wrong gives these"
    ]


def _published_as_wrong(entry: ScoredCondition, row: LeaderboardRow) -> float | None:
    """The published figure of a row, where it is not the one that is shown and has
    samples without a score as wrong; else None."""
    if entry.published is None or row.estimate is None or not row.n_unscored:
        return None
    as_wrong = row.unscored_low
    if entry.metric.higher_is_better is False:
        as_wrong = row.unscored_high
    low, high = entry.metric.bounds or (None, None)
    if as_wrong is None or low is None or high is None:
        return None
    published = entry.published.value
    most = _ROUNDED * (high - low)
    is_shown = abs(published - row.estimate) <= most
    if is_shown or abs(published - as_wrong) > most:
        return None
    return published
