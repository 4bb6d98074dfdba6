"""Rows of a suite whose leaves were asked planned subsets: the figure of all prompts, from the plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warehouse.analysis.leaderboard.planned import PLANNED
from warehouse.analysis.selection.scored_conditions import PARTIAL, coverage_flags
from warehouse.analysis.subsets.recognise import PlannedRun, estimate_of, recognise
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.scores import Leaf, Scored
from warehouse.stats.subsets.design import rank_among
from warehouse.stats.subsets.estimate import SubsetEstimate
from warehouse.stats.subsets.regression import combine_subsets, known_figure

#: Models on plans that footnotes name.
_NAMED = 5


@dataclass(frozen=True)
class PlannedLeaves:
    """Runs on planned subsets of a suite's leaves.

    Attributes:
        runs: by leaf and condition key.
        refusals: why rows that are on plans have no figure of the whole suite.
    """

    runs: Mapping[tuple[str, str], PlannedRun]
    refusals: tuple[str, ...] = ()

    def estimated(
        self, scored: Sequence[Scored], leaves: Sequence[Leaf], level: float
    ) -> tuple[list[Scored], list[str]]:
        """The rows, those on plans with the figures of all prompts, and why others have none."""
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
                one, reason = estimate_of(run, level=level)
                if one is None:
                    return f"{leaf.name}: {reason}"
                parts[leaf.name] = one
            elif set(coverage_flags(entry, leaf.leaf_entries.coverages[entry.group])) & set(PARTIAL):
                return f"{leaf.name} was asked in part, and on no plan"
            else:
                parts[leaf.name] = known_figure(cell.estimate, leaf.leaf_entries.size, level=level)
        kept = [leaf for leaf in leaves if leaf.name in parts]
        bounds = {leaf.metric.bounds if leaf.metric.link == "identity" else None for leaf in kept}
        common = next(iter(bounds)) if len(bounds) == 1 else None
        figure = combine_subsets(list(parts.values()), [leaf.weight for leaf in kept], bounds=common, level=level)
        n = sum((leaf.name, item.conditions.entries[leaf.name].condition.key) in self.runs for leaf in kept)
        flags = dict.fromkeys((*item.row.flags, *(flag for one in parts.values() for flag in one.flags)))
        row = replace(
            item.row,
            estimate=figure.estimate,
            standard_error=figure.standard_error,
            ci_low=figure.ci_low,
            ci_high=figure.ci_high,
            method="t_subset",
            flags=(PLANNED, *flags),
            reason=figure.reason or f"stratified samples of the prompts of {n} of {len(kept)} benchmarks",
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
        by_run = {run: one for one in self.runs.values() for run in one.condition.run_ids}
        for row in shown[:_NAMED]:
            own = {one.plan.key: one for run in row.run_ids if (one := by_run.get(run)) is not None}
            asked = ", ".join(f"{one.plan.benchmark} {one.plan.size} of {one.plan.n_prompts}" for one in own.values())
            yield f"{row.model}: {asked} prompts"
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
            place = rank_among(row.estimate, row.ci_low, row.ci_high, figures, higher_is_better=higher)
            row = replace(row, rank=place.rank, rank_low=place.rank_low, rank_high=place.rank_high)
        merged.append(row)
    sign = -1 if higher else 1
    return sorted(merged, key=lambda row: (row.rank is None, sign * float(f"{row.estimate or 0.0:.12g}")))
