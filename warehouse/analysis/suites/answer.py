"""Models on a suite: weighted means over its leaves, ranked, with the error propagated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from warehouse.analysis.comparison.words import Sentence
from warehouse.analysis.leaderboard.row import PLANNED
from warehouse.analysis.leaderboard.words import (
    counted_left_out,
    first_in_words,
    in_short,
    row_notes,
)
from warehouse.analysis.results import Result
from warehouse.analysis.selection.other_metrics import (
    MOST_TOLD,
    OtherMetric,
    add_up,
    describe_others,
)
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.selection.prompts import sharing_in_words
from warehouse.analysis.selection.score_matrix import too_many
from warehouse.analysis.selection.scored_conditions import PARTIAL
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.brief import (
    brief_table,
    paper_note,
    paper_table,
    suite_heading,
    suite_unit,
)
from warehouse.analysis.suites.entries import (
    describe_sets,
    match_conditions,
    mixed_settings,
)
from warehouse.analysis.suites.hooks import SUITES_ON_PLANS, LeavesOnPlans
from warehouse.analysis.suites.published_rows import PublishedRows
from warehouse.analysis.suites.question import OnSuite, SuiteLeaderboard
from warehouse.analysis.suites.read import Leaf, SuiteEntries, read_suite_entries
from warehouse.analysis.suites.row import (
    SuiteLeaf,
    SuiteRow,
    leaves_in_words,
    legend_of,
    reasons_of,
    suite_table,
)
from warehouse.analysis.suites.scored import Scored, bounds_of, score_set
from warehouse.analysis.suites.tree import find_suite
from warehouse.questions.question import answers
from warehouse.stats import compare_suites
from warehouse.stats.core.inputs import rejects
from warehouse.stats.multiple.ranks import letters
from warehouse.store.connection import Store
from warehouse.tables.units import Unit
from warehouse.tables.view import TableNote, View
from warehouse.tables.words import direction, meanings, visible


@dataclass(frozen=True)
class SuiteBoard(Result):
    """Models on a suite, best first; those that lack leaves come after."""

    suite: str  #: name of the suite.
    metric: str  #: names of the metrics of its leaves.
    #: direction of the ranks; None if unknown (then higher is first).
    higher_is_better: bool | None
    weights: str  #: how leaves are weighted: ``equal``, ``prompts`` or ``given``.
    leaves: tuple[SuiteLeaf, ...]  #: the leaves with their weights.
    rows: tuple[SuiteRow, ...]
    notes: tuple[str, ...]  #: what a reader should know before comparing rows.
    #: metrics of the leaves that are not shown, with their conditions over all leaves.
    others: tuple[OtherMetric, ...] = ()
    basis: tuple[str, ...] = ()  #: what the figures of rows on planned subsets rest on.
    n_left_out: int = 0  #: rows that have no rank beside the first: they lack benchmarks, or a part of one.
    #: of these the number with a better figure than the first.
    left_out_higher: int = 0
    policy: str = ""  #: what unscored samples count as; empty: they are missing.
    is_share: bool = (
        False  #: all scores lie between 0 and 1: people read them in percent.
    )

    @property
    def sentence(self) -> Sentence:
        """Who is first, of whom, and who is left out."""
        return self._sentence_in(None)

    @property
    def sentence_in_unit(self) -> Sentence:
        """`sentence` in percent, where all scores are shares."""
        return self._sentence_in(suite_unit(self.rows, is_share=self.is_share))

    @property
    def one_line(self) -> str:
        first = in_short(self.rows, self.higher_is_better)
        return (
            f"{self.suite} over {len(self.leaves)} benchmarks: {len(self.rows)} "
            f"rows{first}"
        )

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """The sentence and the table of the command.

        Args:
            verbose: every column, the figure on each benchmark, and what columns mean.
            top: rows of the table; None: of many those that a reader looks for first;
                0: all.
        """
        if verbose:
            return self._explained()
        unit = suite_unit(self.rows, is_share=self.is_share)
        head = suite_heading(
            self.suite,
            self.metric,
            self.higher_is_better,
            self.leaves,
            self.weights,
            self.rows,
        )
        head += policy_words(self.policy)
        sentence = visible(f"{self._sentence_in(unit)}.")
        paper = paper_table(self.rows, self.leaves, unit, self.higher_is_better)
        table = brief_table(
            self.rows, unit, self.higher_is_better, top=top, paper=paper
        )
        others = describe_others(self.others, MOST_TOLD)
        flags = chain.from_iterable(row.flags for row in self.rows)
        below = [*self.basis, *filter(None, [others])]
        bold = [paper_note(self.leaves)] if paper is not None else []
        explained = [TableNote(line, "flags") for line in meanings(flags)]
        return View(
            (head, sentence, "", table, *bold, *below, *explained),
            (*self.notes, *reasons_of(self.rows, verbose=False)),
        )

    def _sentence_in(self, unit: Unit | None) -> Sentence:
        """`sentence` with figures in a unit; None: in the metric's own."""
        ranked = [row for row in self.rows if row.rank is not None]
        return first_in_words(ranked, self.rows, self.higher_is_better, unit)

    def _explained(self) -> View:
        """Every column, and what they mean."""
        head = f"{self.suite} by {self.metric} ({direction(self.higher_is_better)}), "
        others = describe_others(self.others)
        flags = chain.from_iterable(row.flags for row in self.rows)
        under_table: list[str | TableNote] = [
            *self.basis,
            *legend_of(self.rows[0].level),
            *filter(None, [others]),
            *(TableNote(line, "flags") for line in meanings(flags)),
        ]
        return View(
            (
                head + leaves_in_words(self.leaves, self.weights),
                visible(f"{self.sentence}."),
                suite_table(self.rows, self.leaves, verbose=True),
                *under_table,
            ),
            (*self.notes, *reasons_of(self.rows, verbose=True)),
        )


@answers(SuiteLeaderboard)
def suite_leaderboard(store: Store, question: SuiteLeaderboard) -> SuiteBoard:
    """A row is one model with one set of settings, over its seeds on every leaf. Its
    figure is the weighted mean of the leaf figures; errors of leaves add up as
    independent, with their covariances where leaves share prompts or clusters.

    Raises:
        MisuseError: unknown names, ambiguous conditions, mixed scales, nothing to show.
    """
    suite = find_suite(store, question.group)
    entries = read_suite_entries(
        store, suite, question.weights, selection_of(question), force=question.force
    )
    return suite_board(entries, question)


def suite_board(entries: SuiteEntries, options: OnSuite) -> SuiteBoard:
    """`suite_leaderboard` of a suite that was read (MisuseError: ambiguous conditions)."""
    suite, leaves = entries.suite, entries.leaves
    others = add_up(leaf.leaf_entries.others for leaf in leaves)
    scored = _scored(entries, options, tuple(other.metric for other in others))
    direction = _direction(leaves)
    planned: LeavesOnPlans | None = None
    refused: list[str] = []
    if any(leaf.plans is not None for leaf in leaves):
        planned = SUITES_ON_PLANS.load()(leaves)
        scored, refused = planned.estimated(scored, leaves, options.level)
    rows = counted_left_out(
        _ranked(scored, leaves, direction, options, planned), direction
    )
    total = sum(leaf.weight for leaf in leaves)
    if rows:
        n_left_out = rows[0].n_left_out
    else:
        n_left_out = 0
    return SuiteBoard(
        suite=suite.name,
        metric=", ".join(entries.metrics),
        higher_is_better=direction,
        weights=entries.weights,
        leaves=tuple(
            SuiteLeaf(
                leaf.name,
                leaf.weight / total,
                leaf.metric.label,
                leaf.leaf_entries.size,
                sum(leaf.name in item.cells for item in scored),
            )
            for leaf in leaves
        ),
        rows=tuple(rows),
        notes=(*entries.notes, *_notes(entries, scored, rows, direction), *refused),
        basis=() if planned is None else tuple(planned.describe(rows)),
        others=others,
        n_left_out=n_left_out,
        left_out_higher=rows[0].left_out_higher if rows else 0,
        policy=entries.policy.text,
        is_share=all(leaf.metric.bounds == (0.0, 1.0) for leaf in leaves),
    )


def _scored(
    entries: SuiteEntries, options: OnSuite, other_metrics: tuple[str, ...]
) -> list[Scored]:
    """The rows, not ranked yet."""
    leaves = entries.leaves
    suite = entries.suite.name
    if entries.published is not None:
        rows = PublishedRows(
            leaves, entries.figures, options.level, suite, other_metrics
        )
        return rows.of(entries.published)
    sets = match_conditions(
        {leaf.name: leaf.entries for leaf in leaves},
        latest=options.latest,
        rows=entries.rules,
    )
    return [
        score_set(
            entry,
            label,
            leaves,
            entries.units,
            entries.figures,
            options.level,
            suite,
            other_metrics,
        )
        for entry, label in zip(sets, describe_sets(sets), strict=True)
    ]


def _direction(leaves: Sequence[Leaf]) -> bool | None:
    directions = {leaf.metric.higher_is_better for leaf in leaves}
    if len(directions) == 1:
        return directions.pop()
    return None


def _ranked(
    scored: Sequence[Scored],
    leaves: Sequence[Leaf],
    higher_is_better: bool | None,
    options: OnSuite,
    planned: LeavesOnPlans | None,
) -> list[SuiteRow]:
    """All rows, those with a rank first; statistical ranks among those that have all
    leaves."""
    sign = 1 if higher_is_better is False else -1
    order = sorted(
        (item for item in scored if PLANNED not in item.row.flags),
        key=lambda item: sign * (item.row.estimate or 0.0),
    )
    placed_rows = [item for item in order if not item.row.no_place]
    whole = [
        item
        for item in placed_rows
        if options.subset_ok or not set(item.row.flags) & set(PARTIAL)
    ]
    complete = [item for item in whole if not item.row.n_missing]
    eligible = whole if options.partial_ok else complete
    first: dict[str, int] = {}
    ranks: dict[int, int] = {}
    # those of equal figures share the place of the first
    for place, item in enumerate(eligible, 1):
        ranks[id(item)] = first.setdefault(f"{item.row.estimate:.12g}", place)
    tests = _tests(complete, leaves, higher_is_better, options.level)
    rows = []
    for item in sorted(order, key=lambda item: id(item) not in ranks):
        statistical, group = tests.get(id(item), (None, ""))
        rows.append(
            replace(
                item.row,
                rank=ranks.get(id(item)),
                statistical_rank=statistical,
                group=group,
            )
        )
    ranked = [row for row in rows if row.rank is not None]
    unranked = [row for row in rows if row.rank is None]
    if planned is None:
        return [*ranked, *unranked]
    on_plans = [item.row for item in scored if PLANNED in item.row.flags]
    comparable = [row for row in on_plans if options.partial_ok or not row.n_missing]
    ranked = planned.placed(ranked, comparable, higher_is_better)
    return [*ranked, *(row for row in on_plans if row not in comparable), *unranked]


def _tests(
    complete: Sequence[Scored],
    leaves: Sequence[Leaf],
    higher_is_better: bool | None,
    level: float,
) -> dict[int, tuple[int | None, str]]:
    """Statistical rank and letters of rows, best first, by their identity."""
    complete = [
        item
        for item in complete
        if all(cell.variance is not None for cell in item.cells.values())
    ]
    if len(complete) < 2 or too_many(len(complete)):
        return {}
    cells = []
    for item in complete:
        cells.append([item.cells[leaf.name] for leaf in leaves])
    bounds = {bounds_of(leaves, item.cells)[0] for item in complete}
    comparison = compare_suites(
        cells,
        [leaf.weight for leaf in leaves],
        bounds=bounds.pop() if len(bounds) == 1 else None,
        level=level,
        higher_is_better=higher_is_better is not False,
        seeds=[item.seeds for item in complete],
    )
    names = letters(rejects(comparison.p_holm, 1 - level))
    return {
        id(item): (rank, "" if rank is None else name)
        for item, rank, name in zip(
            complete, comparison.statistical_rank, names, strict=True
        )
    }


def _notes(
    entries: SuiteEntries,
    scored: Sequence[Scored],
    rows: Sequence[SuiteRow],
    direction: bool | None,
) -> list[str]:
    notes = []
    if empty := entries.suite.empty:
        notes.append(f"no runs on {', '.join(empty)}: not part of the figures")
    missing = sum(row.n_missing > 0 for row in rows)
    if missing:
        ranked = any(row.rank for row in rows if row.n_missing)
        how = (
            "ranked by the benchmarks they have"
            if ranked
            else "not ranked (partial_ok ranks them)"
        )
        notes.append(
            f"{missing} {'row lacks' if missing == 1 else 'rows lack'} benchmarks: "
            f"{how}, and not tested against others"
        )
    partial = [
        row for row in rows if set(row.flags) & set(PARTIAL) and row.rank is None
    ]
    if partial:
        rows_are = "1 row is" if len(partial) == 1 else f"{len(partial)} rows are"
        notes.append(
            f"{rows_are} on a part of a benchmark, and not ranked (subset_ok ranks "
            "them)"
        )
    n_shared = max((item.n_shared for item in scored), default=0)
    if entries.untold:
        notes.append(sharing_in_words(n_shared, entries.untold))
    elif n_shared:
        shared = f"{n_shared} prompts or clusters, each of which counts once"
        notes.append(f"benchmarks share {shared}: their covariances are in the errors")
    mixed: dict[str, list[str]] = {}
    for conditions in {
        id(item.conditions): item.conditions for item in scored
    }.values():
        for name, values in mixed_settings(conditions).items():
            mixed.setdefault(name, values)
    notes += [
        f"{name} differs between benchmarks: {', '.join(v)}"
        for name, v in mixed.items()
    ]
    if direction is None:
        notes.append("it is not known whether higher is better; higher is ranked first")
    tested = sum(
        not item.row.n_missing and item.row.standard_error is not None
        for item in scored
    )
    if why := too_many(tested):
        notes.append(why)
    return [*notes, *row_notes(rows)]
