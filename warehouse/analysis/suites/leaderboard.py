"""Models on a suite: weighted means over its leaves, ranked, with the error propagated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warehouse.analysis.comparison.words import Sentence
from warehouse.analysis.leaderboard.planned import PLANNED
from warehouse.analysis.leaderboard.words import counted_left_out, first_in_words, in_short, row_notes
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import OtherMetric, add_up, describe_others
from warehouse.analysis.selection.prompts import sharing_in_words
from warehouse.analysis.selection.score_matrix import too_many
from warehouse.analysis.selection.scored_conditions import PARTIAL, coverage_flags
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.subsets.stored import PlannedRun, estimate_of, recognise
from warehouse.analysis.suites.entries import describe_sets, match_conditions, mixed_settings
from warehouse.analysis.suites.published_rows import PublishedRows
from warehouse.analysis.suites.read import Leaf, SuiteEntries, read_suite_entries
from warehouse.analysis.suites.row import SuiteLeaf, SuiteRow, leaves_in_words, legend_of, reasons_of, suite_table
from warehouse.analysis.suites.scored import Scored, bounds_of, score_set
from warehouse.analysis.suites.tree import find_suite
from warehouse.questions.leaderboard import OnSuite, SuiteLeaderboard
from warehouse.questions.question import answers
from warehouse.stats import compare_suites
from warehouse.stats.core.inputs import rejects
from warehouse.stats.multiple.ranks import letters
from warehouse.stats.subsets.design import rank_among
from warehouse.stats.subsets.estimate import SubsetEstimate
from warehouse.stats.subsets.regression import combine_subsets, known_figure
from warehouse.stats.suites.parts import OF_INTERVALS
from warehouse.store.connection import Store
from warehouse.tables.view import TableNote, View
from warehouse.tables.words import direction, meanings, visible


@dataclass(frozen=True)
class SuiteBoard(Result):
    """Models on a suite, best first; those that lack leaves come after."""

    suite: str  #: name of the suite.
    metric: str  #: names of the metrics of its leaves.
    higher_is_better: bool | None  #: direction of the ranks; None if unknown (then higher is first).
    weights: str  #: how leaves are weighted: ``equal``, ``prompts`` or ``given``.
    leaves: tuple[SuiteLeaf, ...]  #: the leaves with their weights.
    rows: tuple[SuiteRow, ...]
    notes: tuple[str, ...]  #: what a reader should know before comparing rows.
    #: metrics of the leaves that are not shown, with their conditions over all leaves.
    others: tuple[OtherMetric, ...] = ()
    basis: tuple[str, ...] = ()  #: what the figures of rows on planned subsets rest on.
    n_left_out: int = 0  #: rows that have no rank beside the first: they lack benchmarks, or a part of one.
    left_out_higher: int = 0  #: of these the number with a better figure than the first.

    @property
    def sentence(self) -> Sentence:
        """Who is first, of whom, and who is left out."""
        ranked = [row for row in self.rows if row.rank is not None]
        return first_in_words(ranked, self.rows, self.higher_is_better)

    @property
    def one_line(self) -> str:
        first = in_short(self.rows, self.higher_is_better)
        return f"{self.suite} over {len(self.leaves)} benchmarks: {len(self.rows)} rows{first}"

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, what its columns mean, and what was left out."""
        head = f"{self.suite} by {self.metric} ({direction(self.higher_is_better)}), "
        others = describe_others(self.others)
        under_table: list[str | TableNote] = [
            *self.basis,
            *legend_of(self.rows[0].level),
            *([others] if others else []),
            *(TableNote(line, "flags") for line in meanings(flag for row in self.rows for flag in row.flags)),
        ]
        table = suite_table(self.rows, self.leaves, verbose=verbose)
        notes = (*self.notes, *reasons_of(self.rows, verbose=verbose))
        sentence = visible(f"{self.sentence}.")
        return View((head + leaves_in_words(self.leaves, self.weights), sentence, table, *under_table), notes)


@answers(SuiteLeaderboard)
def suite_leaderboard(store: Store, question: SuiteLeaderboard) -> SuiteBoard:
    """A row is one model with one set of settings, over its seeds on every leaf. Its figure is the weighted mean of the
    leaf figures; errors of leaves add up as independent, with their covariances where leaves share prompts or clusters.

    Raises:
        MisuseError: unknown names, ambiguous conditions, mixed scales, nothing to show.
    """
    suite = find_suite(store, question.group)
    entries = read_suite_entries(store, suite, question.weights, selection_of(question), force=question.force)
    return suite_board(entries, question)


def suite_board(entries: SuiteEntries, options: OnSuite) -> SuiteBoard:
    """`suite_leaderboard` of a suite that was read (MisuseError: ambiguous conditions)."""
    suite, leaves = entries.suite, entries.leaves
    others = add_up(leaf.leaf_entries.others for leaf in leaves)
    scored = _scored(entries, options, tuple(other.metric for other in others))
    direction = _direction(leaves)
    plans = planned_leaves(leaves)
    scored, refused = plans.estimated(scored, leaves, options.level)
    rows = counted_left_out(_ranked(scored, leaves, direction, options), direction)
    total = sum(leaf.weight for leaf in leaves)
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
        basis=tuple(plans.describe(rows)),
        others=others,
        n_left_out=rows[0].n_left_out if rows else 0,
        left_out_higher=rows[0].left_out_higher if rows else 0,
    )


def _scored(entries: SuiteEntries, options: OnSuite, other_metrics: tuple[str, ...]) -> list[Scored]:
    """The rows, not ranked yet."""
    leaves, suite = entries.leaves, entries.suite.name
    if entries.published is not None:
        rows = PublishedRows(leaves, entries.figures, options.level, suite, other_metrics)
        return rows.of(entries.published)
    sets = match_conditions({leaf.name: leaf.entries for leaf in leaves}, latest=options.latest, rows=entries.rules)
    return [
        score_set(entry, label, leaves, entries.units, entries.figures, options.level, suite, other_metrics)
        for entry, label in zip(sets, describe_sets(sets), strict=True)
    ]


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
    placed_rows = [item for item in order if not item.row.no_place]
    whole = [item for item in placed_rows if options.subset_ok or not set(item.row.flags) & set(PARTIAL)]
    complete = [item for item in whole if not item.row.n_missing]
    eligible = whole if options.partial_ok else complete
    first: dict[str, int] = {}
    ranks: dict[int, int] = {}
    for place, item in enumerate(eligible, 1):  # those of equal figures share the place of the first
        ranks[id(item)] = first.setdefault(f"{item.row.estimate:.12g}", place)
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
    complete = [item for item in complete if all(cell.variance is not None for cell in item.cells.values())]
    if len(complete) < 2 or too_many(len(complete)):
        return {}
    cells = [[item.cells[leaf.name] for leaf in leaves] for item in complete]
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
    for conditions in {id(item.conditions): item.conditions for item in scored}.values():
        for name, values in mixed_settings(conditions).items():
            mixed.setdefault(name, values)
    notes += [f"{name} differs between benchmarks: {', '.join(v)}" for name, v in mixed.items()]
    if direction is None:
        notes.append("it is not known whether higher is better; higher is ranked first")
    tested = sum(not item.row.n_missing and item.row.standard_error is not None for item in scored)
    if why := too_many(tested):
        notes.append(why)
    return [*notes, *row_notes(rows)]


#: Models on plans that footnotes name.
_NAMED = 5


@dataclass(frozen=True)
class PlannedLeaves:
    """Runs on planned subsets of a suite's leaves."""

    runs: Mapping[tuple[str, str], PlannedRun]  #: by leaf and condition key.
    refusals: tuple[str, ...] = ()  #: why rows that are on plans have no figure of the whole suite.

    def estimated(
        self, scored: Sequence[Scored], leaves: Sequence[Leaf], level: float
    ) -> tuple[list[Scored], list[str]]:
        """The rows, those on plans with the figures of all prompts, and why others have none."""
        if not self.runs:
            return list(scored), []
        estimated, reasons = [], []
        for item in scored:
            changed = self._estimated(item, leaves, level) if self._is_on_plan(item) else item
            if isinstance(changed, str):
                reasons.append(f"{item.row.model}: {changed}")
                changed = item
            estimated.append(changed)
        return estimated, reasons

    def _is_on_plan(self, item: Scored) -> bool:
        return any((name, entry.condition.key) in self.runs for name, entry in item.conditions.entries.items())

    def _estimated(self, item: Scored, leaves: Sequence[Leaf], level: float) -> Scored | str:
        """The row from its plans; in words why there is none."""
        parts: dict[str, SubsetEstimate] = {}
        for leaf in leaves:
            cell, entry = item.cells.get(leaf.name), item.conditions.entries.get(leaf.name)
            if cell is None or entry is None:
                continue
            run = self.runs.get((leaf.name, entry.condition.key))
            if run is not None:
                estimate, reason = estimate_of(run, level=level)
                if estimate is None:
                    return f"{leaf.name}: {reason}"
                parts[leaf.name] = estimate
            elif set(coverage_flags(entry, leaf.leaf_entries.coverages[entry.group])) & set(PARTIAL):
                return f"{leaf.name} was asked in part, and on no plan"
            else:
                parts[leaf.name] = known_figure(cell.estimate, leaf.leaf_entries.size, level=level)
        measured = [leaf for leaf in leaves if leaf.name in parts]
        bounds = {leaf.metric.bounds if leaf.metric.link == "identity" else None for leaf in measured}
        common = next(iter(bounds)) if len(bounds) == 1 else None
        figure = combine_subsets(list(parts.values()), [leaf.weight for leaf in measured], bounds=common, level=level)
        n = sum((leaf.name, item.conditions.entries[leaf.name].condition.key) in self.runs for leaf in measured)
        own = (*item.row.flags, *(flag for estimate in parts.values() for flag in estimate.flags))
        kept = [flag for flag in own if flag not in OF_INTERVALS]
        flags = dict.fromkeys((*kept, *figure.flags))
        row = replace(
            item.row,
            estimate=figure.estimate,
            standard_error=figure.standard_error,
            ci_low=figure.ci_low,
            ci_high=figure.ci_high,
            method="t_subset",
            flags=(PLANNED, *flags),
            reason=figure.reason or f"stratified samples of the prompts of {n} of {len(measured)} benchmarks",
            se_independent=figure.standard_error,
            degrees_of_freedom=figure.degrees_of_freedom,
            leaf_estimates=tuple(parts[leaf.name].estimate if leaf.name in parts else None for leaf in leaves),
        )
        return replace(item, row=row)

    def describe(self, rows: Sequence[SuiteRow]) -> Iterator[str]:
        """What figures from plans say; nothing where there are none."""
        shown = [row for row in rows if PLANNED in row.flags]
        if not shown:
            return
        yield (
            "planned: asked planned subsets; the figure and its interval are those of all prompts of the benchmarks,"
            " from stratified samples of them (docs/subsets.md), and its rank is among the rows that have all"
        )
        by_run = {run: planned for planned in self.runs.values() for run in planned.condition.run_ids}
        for row in shown[:_NAMED]:
            own = {planned.plan.key: planned for run in row.run_ids if (planned := by_run.get(run)) is not None}
            sizes = ", ".join(f"{run.plan.benchmark} {run.plan.size} of {run.plan.n_prompts}" for run in own.values())
            yield f"{row.model}: {sizes} prompts"
        if len(shown) > _NAMED:
            yield f"and {len(shown) - _NAMED} more on plans"


def planned_leaves(leaves: Sequence[Leaf]) -> PlannedLeaves:
    """The runs on a suite's leaves that are on a stored plan."""
    runs = {}
    for leaf in leaves:
        for entry in leaf.entries if leaf.plans.plans else ():
            if entry.usable is not None and (
                run := recognise(leaf.plans, entry.condition, entry.metric.label, entry.usable)
            ):
                runs[leaf.name, entry.condition.key] = run
    return PlannedLeaves(runs)


def placed(rows: Sequence[SuiteRow], planned: Sequence[SuiteRow], higher_is_better: bool | None) -> list[SuiteRow]:
    """Ranked rows with those on plans among them, each at the rank that its figure has among the others."""
    higher = higher_is_better is not False
    figures = [row.estimate for row in rows if row.estimate is not None]
    merged = list(rows)
    for row in planned:
        if row.estimate is not None and figures:
            row_rank = rank_among(row.estimate, row.ci_low, row.ci_high, figures, higher_is_better=higher)
            row = replace(row, rank=row_rank.rank, rank_low=row_rank.rank_low, rank_high=row_rank.rank_high)
        merged.append(row)
    sign = -1 if higher else 1
    return sorted(merged, key=lambda row: (row.rank is None, sign * float(f"{row.estimate or 0.0:.12g}")))
