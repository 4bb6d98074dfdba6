"""Rows of a suite on planned subsets: the figure of all its prompts, placed among rows
that have all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from warehouse.analysis.leaderboard.row import PLANNED
from warehouse.analysis.selection.scored_conditions import PARTIAL, coverage_flags
from warehouse.analysis.subsets.stored import (
    PlannedRun,
    estimate_of,
    known_plans,
    recognise,
)
from warehouse.analysis.suites.hooks import SUITES_ON_PLANS
from warehouse.analysis.suites.read import Leaf
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.scored import Scored
from warehouse.stats.subsets.design import rank_among
from warehouse.stats.subsets.estimate import SubsetEstimate
from warehouse.stats.subsets.regression import combine_subsets, known_figure
from warehouse.stats.suites.parts import OF_INTERVALS

#: Models on plans that footnotes name.
_NAMED = 5


@dataclass(frozen=True)
class PlannedLeaves:
    """Runs on planned subsets of a suite's leaves."""

    runs: Mapping[tuple[str, str], PlannedRun]  #: by leaf and condition key.

    def estimated(
        self, scored: Sequence[Scored], leaves: Sequence[Leaf], level: float
    ) -> tuple[list[Scored], list[str]]:
        """The rows, those on plans with the figures of all prompts, and why others have
        none."""
        if not self.runs:
            return list(scored), []
        estimated, reasons = [], []
        for item in scored:
            changed = (
                self._estimated(item, leaves, level) if self._is_on_plan(item) else item
            )
            if isinstance(changed, str):
                reasons.append(f"{item.row.model}: {changed}")
                changed = item
            estimated.append(changed)
        return estimated, reasons

    def _is_on_plan(self, item: Scored) -> bool:
        return any(
            (name, entry.condition.key) in self.runs
            for name, entry in item.conditions.entries.items()
        )

    def _estimated(
        self, item: Scored, leaves: Sequence[Leaf], level: float
    ) -> Scored | str:
        """The row from its plans; in words why there is none."""
        parts: dict[str, SubsetEstimate] = {}
        for leaf in leaves:
            cell, entry = (
                item.cells.get(leaf.name),
                item.conditions.entries.get(leaf.name),
            )
            if cell is None or entry is None:
                continue
            run = self.runs.get((leaf.name, entry.condition.key))
            if run is not None:
                estimate, reason = estimate_of(run, level=level)
                if estimate is None:
                    return f"{leaf.name}: {reason}"
                parts[leaf.name] = estimate
            elif set(
                coverage_flags(entry, leaf.leaf_entries.coverages[entry.group])
            ) & set(PARTIAL):
                return f"{leaf.name} was asked in part, and on no plan"
            else:
                parts[leaf.name] = known_figure(
                    cell.estimate, leaf.leaf_entries.size, level=level
                )
        measured = [leaf for leaf in leaves if leaf.name in parts]
        bounds = {
            leaf.metric.bounds if leaf.metric.link == "identity" else None
            for leaf in measured
        }
        common = next(iter(bounds)) if len(bounds) == 1 else None
        figure = combine_subsets(
            list(parts.values()),
            [leaf.weight for leaf in measured],
            bounds=common,
            level=level,
        )
        n = sum(
            (leaf.name, item.conditions.entries[leaf.name].condition.key) in self.runs
            for leaf in measured
        )
        own = (
            *item.row.flags,
            *chain.from_iterable(estimate.flags for estimate in parts.values()),
        )
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
            reason=figure.reason
            or f"stratified samples of the prompts of {n} of {len(measured)} benchmarks",
            se_independent=figure.standard_error,
            degrees_of_freedom=figure.degrees_of_freedom,
            leaf_estimates=tuple(
                parts[leaf.name].estimate if leaf.name in parts else None
                for leaf in leaves
            ),
        )
        return replace(item, row=row)

    def placed(
        self,
        rows: Sequence[SuiteRow],
        planned: Sequence[SuiteRow],
        higher_is_better: bool | None,
    ) -> list[SuiteRow]:
        """Ranked rows with those on plans among them, each at the rank that its figure
        has among the others."""
        higher = higher_is_better is not False
        figures = [row.estimate for row in rows if row.estimate is not None]
        merged = list(rows)
        for row in planned:
            if row.estimate is not None and figures:
                row_rank = rank_among(
                    row.estimate,
                    row.ci_low,
                    row.ci_high,
                    figures,
                    higher_is_better=higher,
                )
                row = replace(
                    row,
                    rank=row_rank.rank,
                    rank_low=row_rank.rank_low,
                    rank_high=row_rank.rank_high,
                )
            merged.append(row)
        sign = 1
        if higher:
            sign = -1
        return sorted(
            merged,
            key=lambda row: (
                row.rank is None,
                sign * float(f"{row.estimate or 0.0:.12g}"),
            ),
        )

    def describe(self, rows: Sequence[SuiteRow]) -> Iterator[str]:
        """Sentences on figures from plans; nothing where there are none."""
        shown = [row for row in rows if PLANNED in row.flags]
        if not shown:
            return
        yield (
            "planned: asked planned subsets; the figure and its interval are those of "
            "all prompts of the benchmarks, from stratified samples of them "
            "(docs/subsets.md), and its rank is among the rows that have all"
        )
        by_run = {}
        for planned in self.runs.values():
            by_run.update(dict.fromkeys(planned.condition.run_ids, planned))
        for row in shown[:_NAMED]:
            own = {}
            for run_id in row.run_ids:
                if run_id in by_run:
                    own[by_run[run_id].plan.key] = by_run[run_id]
            sizes = ", ".join(
                f"{run.plan.benchmark} {run.plan.size} of {run.plan.n_prompts}"
                for run in own.values()
            )
            yield f"{row.model}: {sizes} prompts"
        if len(shown) > _NAMED:
            yield f"and {len(shown) - _NAMED} more on plans"


def planned_leaves(leaves: Sequence[Leaf]) -> PlannedLeaves:
    """The runs on a suite's leaves that are on a stored plan."""
    runs: dict[tuple[str, str], PlannedRun] = {}
    for leaf in leaves:
        if leaf.plans is None:
            continue
        plans = known_plans(leaf.plans)
        for entry in leaf.entries:
            if entry.usable is None:
                continue
            run = recognise(plans, entry.condition, entry.metric.label, entry.usable)
            if run is not None:
                runs[leaf.name, entry.condition.key] = run
    return PlannedLeaves(runs)


SUITES_ON_PLANS.fill(planned_leaves)
