"""Models on a suite: weighted means over its leaves, ranked, with the error propagated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warehouse.analysis.comparison.words import Sentence
from warehouse.analysis.leaderboard.planned import PLANNED
from warehouse.analysis.leaderboard.words import counted_left_out, first_in_words, in_short
from warehouse.analysis.results import Result
from warehouse.analysis.selection.other_metrics import OtherMetric, add_up, describe_others
from warehouse.analysis.selection.scored_conditions import PARTIAL
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.selection.shared_prompts import sharing_in_words
from warehouse.analysis.suites.condition_sets import describe_sets, match_conditions, mixed_settings
from warehouse.analysis.suites.planned import placed, planned_leaves
from warehouse.analysis.suites.read import SuiteEntries, read_suite_entries
from warehouse.analysis.suites.row import SuiteLeaf, SuiteRow
from warehouse.analysis.suites.scores import Leaf, Scored, score_set
from warehouse.analysis.suites.tree import find_suite
from warehouse.analysis.suites.view import leaves_in_words, legend_of, reasons_of, suite_table
from warehouse.questions.leaderboard import OnSuite, SuiteLeaderboard
from warehouse.questions.question import answers
from warehouse.stats import compare_suites
from warehouse.stats.core.rejects import rejects
from warehouse.stats.multiple.ranks import letters
from warehouse.store.connection import Store
from warehouse.tables.view import Below, View
from warehouse.tables.words import direction, visible


@dataclass(frozen=True)
class SuiteBoard(Result):
    """Models on a suite, best first; those that lack leaves come after.

    Attributes:
        suite: name of the suite.
        metric: names of the metrics of its leaves.
        higher_is_better: direction of the ranks; None if unknown (then higher is first).
        weights: how leaves are weighted: ``equal``, ``prompts`` or ``given``.
        leaves: the leaves with their weights.
        notes: what a reader should know before comparing rows.
        others: metrics of the leaves that are not shown, with their conditions over all leaves.
        basis: what the figures of rows on planned subsets rest on.
        n_left_out: rows that have no rank beside the first: they lack benchmarks, or a part of one.
        left_out_higher: of these the number with a better figure than the first.
    """

    ROW = SuiteRow

    suite: str
    metric: str
    higher_is_better: bool | None
    weights: str
    leaves: tuple[SuiteLeaf, ...]
    rows: tuple[SuiteRow, ...]
    notes: tuple[str, ...]
    others: tuple[OtherMetric, ...] = ()
    basis: tuple[str, ...] = ()
    n_left_out: int = 0
    left_out_higher: int = 0

    @property
    def sentence(self) -> Sentence:
        """Who is first, of whom, and who is left out."""
        ranked = [row for row in self.rows if row.rank is not None]
        return first_in_words(ranked, self.rows, self.higher_is_better)

    @property
    def one_line(self) -> str:
        """The result in one line."""
        first = in_short(self.rows, self.higher_is_better)
        return f"{self.suite} over {len(self.leaves)} benchmarks: {len(self.rows)} rows{first}"

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, what its columns mean, and what was left out."""
        head = f"{self.suite} by {self.metric} ({direction(self.higher_is_better)}), "
        others = describe_others(self.others)
        below: list[str | Below] = [*self.basis, *legend_of(self.rows[0].level), *([others] if others else [])]
        table = suite_table(self.rows, self.leaves, verbose=verbose)
        notes = (*self.notes, *reasons_of(self.rows, verbose=verbose))
        sentence = visible(f"{self.sentence}.")
        return View((head + leaves_in_words(self.leaves, self.weights), sentence, table, *below), notes)


@answers(SuiteLeaderboard)
def suite_leaderboard(store: Store, question: SuiteLeaderboard) -> SuiteBoard:
    """A row is one set of conditions of a model, one on each leaf. Its figure is the weighted mean
    of the leaf figures; errors of leaves add up as independent, with their covariances where
    leaves share prompts or clusters.

    Raises:
        MisuseError: unknown names, ambiguous conditions, mixed scales, nothing to show.
    """
    suite = find_suite(store, question.group)
    entries = read_suite_entries(store, suite, question.weights, selection_of(question), force=question.force)
    return suite_board(entries, question)


def suite_board(entries: SuiteEntries, options: OnSuite) -> SuiteBoard:
    """`suite_leaderboard` of a suite that was read.

    Raises:
        MisuseError: ambiguous conditions.
    """
    suite, leaves = entries.suite, entries.leaves
    sets = match_conditions({leaf.name: leaf.entries for leaf in leaves}, latest=options.latest)
    labels = describe_sets(sets)
    scored = [
        score_set(one, label, leaves, entries.units, entries.figures, options.level, suite.name)
        for one, label in zip(sets, labels, strict=True)
    ]
    direction = _direction(leaves)
    plans = planned_leaves(leaves)
    scored, refused = plans.estimated(scored, leaves, options.level)
    rows = counted_left_out(_ranked(scored, leaves, direction, options), direction)
    total = sum(leaf.weight for leaf in leaves)
    others = add_up(leaf.leaf_entries.others for leaf in leaves)
    names = tuple(other.metric for other in others)
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
        rows=tuple(replace(row, other_metrics=names) for row in rows),
        notes=(*entries.notes, *_notes(entries, scored, rows, direction), *refused),
        basis=tuple(plans.describe(rows)),
        others=others,
        n_left_out=rows[0].n_left_out if rows else 0,
        left_out_higher=rows[0].left_out_higher if rows else 0,
    )


def _direction(leaves: Sequence[Leaf]) -> bool | None:
    directions = {leaf.metric.higher_is_better for leaf in leaves}
    return directions.pop() if len(directions) == 1 else None


def _ranked(
    scored: Sequence[Scored], leaves: Sequence[Leaf], higher_is_better: bool | None, options: OnSuite
) -> list[SuiteRow]:
    """All rows, those with a rank first; statistical ranks among those that have all leaves."""
    sign = 1 if higher_is_better is False else -1
    order = sorted(
        (item for item in scored if PLANNED not in item.row.flags), key=lambda item: sign * (item.row.estimate or 0.0)
    )
    whole = [item for item in order if options.subset_ok or not set(item.row.flags) & set(PARTIAL)]
    complete = [item for item in whole if not item.row.n_missing]
    eligible = whole if options.partial_ok else complete
    figures = [f"{item.row.estimate:.12g}" for item in eligible]
    ranks = {id(item): figures.index(figure) + 1 for item, figure in zip(eligible, figures, strict=True)}
    tests = _tests(complete, leaves, higher_is_better, options.level)
    rows = []
    for item in sorted(order, key=lambda item: id(item) not in ranks):
        statistical, group = tests.get(id(item), (None, ""))
        rows.append(replace(item.row, rank=ranks.get(id(item)), statistical_rank=statistical, group=group))
    on_plans = [item.row for item in scored if PLANNED in item.row.flags]
    comparable = [row for row in on_plans if options.partial_ok or not row.n_missing]
    ranked = placed([row for row in rows if row.rank is not None], comparable, higher_is_better)
    return [*ranked, *(row for row in on_plans if row not in comparable), *(row for row in rows if row.rank is None)]


def _tests(
    complete: Sequence[Scored], leaves: Sequence[Leaf], higher_is_better: bool | None, level: float
) -> dict[int, tuple[int | None, str]]:
    """Statistical rank and letters of rows, best first, by their identity."""
    if len(complete) < 2:
        return {}
    cells = [[item.cells[leaf.name] for leaf in leaves] for item in complete]
    comparison = compare_suites(
        cells, [leaf.weight for leaf in leaves], level=level, higher_is_better=higher_is_better is not False
    )
    names = letters(rejects(comparison.p_holm, 1 - level))
    return {
        id(item): (rank, "" if rank is None else name)
        for item, rank, name in zip(complete, comparison.statistical_rank, names, strict=True)
    }


def _notes(
    entries: SuiteEntries, scored: Sequence[Scored], rows: Sequence[SuiteRow], direction: bool | None
) -> list[str]:
    notes = []
    if empty := entries.suite.empty:
        notes.append(f"no runs on {', '.join(empty)}: not part of the figures")
    missing = sum(row.n_missing > 0 for row in rows)
    if missing:
        ranked = any(row.rank for row in rows if row.n_missing)
        how = "ranked by the benchmarks they have" if ranked else "not ranked (partial_ok ranks them)"
        notes.append(
            f"{missing} {'row lacks' if missing == 1 else 'rows lack'} benchmarks: {how}, and not tested against others"
        )
    partial = [row for row in rows if set(row.flags) & set(PARTIAL) and row.rank is None]
    if partial:
        rows_are = "1 row is" if len(partial) == 1 else f"{len(partial)} rows are"
        notes.append(f"{rows_are} on a part of a benchmark, and not ranked (subset_ok ranks them)")
    n_shared = max((item.n_shared for item in scored), default=0)
    if entries.untold:
        notes.append(sharing_in_words(n_shared, entries.untold))
    elif n_shared:
        shared = f"{n_shared} prompts or clusters, each of which counts once"
        notes.append(f"benchmarks share {shared}: their covariances are in the errors")
    mixed: dict[str, list[str]] = {}
    for item in scored:
        for name, values in mixed_settings(item.conditions).items():
            mixed.setdefault(name, values)
    notes += [f"{name} differs between benchmarks: {', '.join(v)}" for name, v in mixed.items()]
    if direction is None:
        notes.append("it is not known whether higher is better; higher is ranked first")
    return notes
