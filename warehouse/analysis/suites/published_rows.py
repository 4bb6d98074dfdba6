"""Rows of a suite of published figures alone: what `score_set` makes of each set, with
nothing worked out twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from warehouse.analysis.suites.entries import (
    ConditionSet,
    SuiteFigure,
    describe_sets,
    who_of,
)
from warehouse.analysis.suites.published_runs import Figure
from warehouse.analysis.suites.read import Leaf
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.scored import (
    Scored,
    bounds_of,
    errors_on,
    figure_of_groups,
)
from warehouse.stats import Cell, SuiteEstimate, published_cell
from warehouse.stats.core.inputs import FloatArray, as_level, finite_bounds
from warehouse.stats.suites.weighted_mean import combine_shares, leaf_weights


@dataclass(frozen=True)
class _Alike:
    """Models with figures on the same leaves."""

    leaves: tuple[Leaf, ...]  #: these.
    shares: FloatArray  #: of these leaves, which sum to 1.
    conditions: ConditionSet  #: as all of them have it, but for who was evaluated.
    label: str  #: what tells them from models with figures on other leaves.


class PublishedRows:
    """Rows of models, not ranked yet.

    Args:
        leaves: of the suite.
        suite_figures: published ones of the suite itself.
        level: of the intervals.
        suite: its name.
        other_metrics: those that leaves have besides.
    """

    def __init__(
        self,
        leaves: Sequence[Leaf],
        suite_figures: Sequence[SuiteFigure],
        level: float,
        suite: str,
        other_metrics: tuple[str, ...],
    ) -> None:
        self._leaves, self._suite_figures = leaves, suite_figures
        self._level = as_level(level)
        self._suite = suite
        self._other_metrics = other_metrics

    def of(self, figures: Mapping[str, Sequence[Figure]]) -> list[Scored]:
        """The rows, in the order in which leaves have the models first.

        Args:
            figures: by name of the leaf.
        """
        by_model: dict[str, dict[int, Figure]] = {}
        for number, leaf in enumerate(self._leaves):
            for figure in figures[leaf.name]:
                by_model.setdefault(figure.model, {})[number] = figure
        groups = self._groups(map(tuple, by_model.values()))
        return [
            self._scored(groups[tuple(own)], [*own.values()])
            for own in by_model.values()
        ]

    def _groups(
        self, patterns: Iterable[tuple[int, ...]]
    ) -> dict[tuple[int, ...], _Alike]:
        """Models by the numbers of the leaves that they have figures on."""
        different = [*dict.fromkeys(patterns)]
        parts = []
        for pattern in different:
            parts.append(tuple(self._leaves[number] for number in pattern))
        sets = []
        for leaves in parts:
            sets.append(
                ConditionSet(
                    who_of(leaves[0].entries[0]),
                    (),
                    {leaf.name: leaf.entries[0] for leaf in leaves},
                )
            )
        alike = {}
        for pattern, leaves, conditions, label in zip(
            different, parts, sets, describe_sets(sets), strict=True
        ):
            weights = leaf_weights([leaf.weight for leaf in leaves], len(leaves))
            alike[pattern] = _Alike(leaves, weights, conditions, label)
        return alike

    def _scored(self, alike: _Alike, figures: Sequence[Figure]) -> Scored:
        cells = {
            leaf.name: published_cell(figure.value, figure.standard_error, figure.n)
            for leaf, figure in zip(alike.leaves, figures, strict=True)
        }
        bounds, outside = bounds_of(alike.leaves, cells)
        finite_bounds(bounds)  # refuses ends that are none
        combined = combine_shares(
            [*cells.values()], alike.shares, bounds=bounds, level=self._level
        )
        row = self._row(alike, figures, cells, combined, outside)
        return Scored(alike.conditions, cells, row, 0)

    def _row(
        self,
        alike: _Alike,
        figures: Sequence[Figure],
        cells: Mapping[str, Cell],
        combined: SuiteEstimate,
        outside: Sequence[str],
    ) -> SuiteRow:
        n_missing = len(self._leaves) - len(cells)
        of_suite = figure_of_groups(
            {figure.run_group_id for figure in figures}, self._suite_figures
        )
        estimates: Iterable[float | None] = (figure.value for figure in figures)
        if n_missing:
            estimates = (
                cells[leaf.name].estimate if leaf.name in cells else None
                for leaf in self._leaves
            )
        return SuiteRow(
            rank=None,
            statistical_rank=None,
            group="",
            model=figures[0].model,
            condition=alike.label,
            estimate=combined.estimate,
            standard_error=combined.standard_error,
            ci_low=combined.ci_low,
            ci_high=combined.ci_high,
            level=self._level,
            n_leaves=len(cells),
            n_missing=n_missing,
            n_prompts=combined.n_prompts,
            n_clusters=None,
            n_draws=0,
            n_unscored=0,
            share_unscored=0.0,
            published=None if of_suite is None else of_suite.value,
            published_se=None if of_suite is None else of_suite.standard_error,
            method=combined.method,
            flags=(
                *(["missing_leaves"] if n_missing else []),
                "published",
                *outside,
                *combined.flags,
            ),
            reason=combined.reason,
            se_independent=combined.se_independent,
            degrees_of_freedom=combined.degrees_of_freedom,
            suite=self._suite,
            leaf_estimates=tuple(estimates),
            leaf_errors=errors_on(self._leaves, cells),
            run_ids=tuple([figure.run_id for figure in figures]),
            other_metrics=self._other_metrics,
        )
