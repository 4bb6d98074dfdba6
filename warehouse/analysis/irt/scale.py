"""All models of a pool on one scale, and what it says without single benchmarks and
families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from warehouse.analysis.irt.ability_view import (
    AbilityReport,
    AbilityRow,
    SensitivityRow,
)
from warehouse.analysis.irt.fitting import Fitted, families_to_leave_out, fit_pool
from warehouse.analysis.irt.pool import Pool
from warehouse.analysis.results import finite_or_none, part_fields
from warehouse.errors import StatisticsError
from warehouse.stats.items.abilities import (
    Abilities,
    abilities,
    ability_contrast,
    ability_ranks,
)
from warehouse.stats.items.responses import ability_modes

#: Families left out one after the other, the largest first.
MOST_FAMILIES = 20
#: Standard deviations from the mean beyond which the prior pulls an ability in by more
#: than its error, and models that a note names.
FAR, _NAMED = 2.2, 5


def scale_of(
    pool: Pool,
    *,
    model: str | None,
    level: float,
    families: Sequence[str | None] | None,
    seed: int,
) -> AbilityReport:
    """Put the models of a pool on one scale (MisuseError: another model, models without
    a common scale).

    Args:
        model: ``1pl`` or ``2pl``; None: see `fit_pool`.
        level: of intervals and rank sets.
        families: of the models: also fit without each benchmark and family; None: do
            not.
        seed: of the draws behind rank sets.
    """
    fitted = fit_pool(pool, model)
    estimates, notes = _abilities(fitted)
    head = fitted.head
    rows = _rows(fitted, estimates, level, seed)
    without: tuple[SensitivityRow, ...] = ()
    if families is not None:
        without = tuple(_sensitivity(fitted, estimates.ability, families))
        many = len(families_to_leave_out(families)) - MOST_FAMILIES
        if many > 0:
            notes += [f"sensitivity: the {many} smallest families are not left out"]
        if not without:
            notes.append(
                "sensitivity: one benchmark, and no family of two models: nothing to "
                "leave out"
            )
    return AbilityReport(
        **head | {"notes": (*head["notes"], *notes)},
        rows=rows,
        level=level,
        blocks=fitted.block_rows,
        bridge_items=fitted.fit.bridge_items,
        sensitivity=without,
    )


def _abilities(fitted: Fitted) -> tuple[Abilities, list[str]]:
    clusters: NDArray[np.int64] | None = fitted.pool.clusters
    notes = []
    if clusters is not None and len(np.unique(clusters)) < 2:
        clusters = None
        notes.append(
            "all prompts are one cluster: errors take them as independent, and are too "
            "small"
        )
    elif clusters is None and fitted.pool.responses.are_counts:
        clusters = np.arange(fitted.pool.responses.n_items)
        notes.append(
            "draws of a model on a prompt go together: errors take the draws of a "
            "prompt as a cluster"
        )
    estimates = abilities(fitted.fit, fitted.pool.responses, clusters)
    if estimates.reason:
        notes.append(f"no errors: {estimates.reason}")
    if "errors_short" in estimates.flags:
        notes.append(
            "more than 10 prompts for each model: intervals are a little short "
            "(measured .91 for .95)"
        )
    far = [
        name
        for name, own in zip(estimates.models, estimates.ability, strict=True)
        if abs(own) > FAR
    ]
    if far and not estimates.reason:
        named = ", ".join(far[:_NAMED])
        if len(far) > _NAMED:
            named += " ..."
        notes.append(
            f"more than {FAR} standard deviations from the mean: {named}: how far they "
            "are from others may be understated (intervals of .95 measured .65 to "
            ".96); ranks hold"
        )
    if "few_models" in estimates.flags and not estimates.reason:
        notes.append(
            f"{len(estimates.models)} models: a standard deviation of their abilities "
            "says little of others"
        )
    return estimates, notes


def _rows(
    fitted: Fitted, estimates: Abilities, level: float, seed: int
) -> tuple[AbilityRow, ...]:
    ranks = ability_ranks(estimates, level=level, seed=seed)
    cells = fitted.pool.responses.cells(1)
    bridges = set(fitted.fit.bridge_models)
    order = np.argsort(ranks.rank)
    leader = estimates.models[order[0]]
    half = float(scipy_stats.t.ppf(0.5 + level / 2, estimates.df))
    rows = []
    for i in order.tolist():
        name = estimates.models[i]
        ability = float(estimates.ability[i])
        se = finite_or_none(estimates.se[i])
        behind = None
        if name != leader:
            behind = ability_contrast(estimates, leader, name, level)
        rows.append(
            AbilityRow(
                rank=int(ranks.rank[i]),
                rank_low=None if ranks.low is None else int(ranks.low[i]),
                rank_high=None if ranks.high is None else int(ranks.high[i]),
                model=name,
                ability=ability,
                standard_error=se,
                ci_low=None if se is None else ability - half * se,
                ci_high=None if se is None else ability + half * se,
                **part_fields(
                    behind,
                    behind_leader="difference",
                    behind_low="low",
                    behind_high="high",
                    p_leader="p_value",
                ),
                n_items=int(cells[i]),
                block=int(fitted.blocks[i]) + 1,
                bridge=name in bridges,
            )
        )
    return tuple(rows)


def _sensitivity(
    fitted: Fitted, ability: NDArray[np.float64], families: Sequence[str | None]
) -> Iterator[SensitivityRow]:
    pool = fitted.pool
    all_models = np.ones(pool.responses.n_models, bool)
    all_items = np.ones(pool.responses.n_items, bool)
    benchmark_of = pool.benchmark_of()
    family_of = np.array(families, dtype=object)
    if len(pool.benchmarks) > 1:
        for name in pool.benchmarks:
            yield _without(
                "benchmark", name, fitted, ability, all_models, benchmark_of != name
            )
    for family in families_to_leave_out(families)[:MOST_FAMILIES]:
        yield _without(
            "family", family, fitted, ability, family_of != family, all_items
        )


def _without(
    kind: str,
    name: str,
    fitted: Fitted,
    ability: NDArray[np.float64],
    models: NDArray[np.bool_],
    items: NDArray[np.bool_],
) -> SensitivityRow:
    part = fitted.pool.part(models, items)
    if part is None:
        return SensitivityRow(
            kind,
            name,
            0,
            0,
            None,
            None,
            None,
            None,
            None,
            "too little is left to compare models",
        )
    sizes = part.responses.n_models, part.responses.n_items
    try:
        fit = fit_pool(part, fitted.fit.model).fit
    except StatisticsError as error:
        return SensitivityRow(
            kind, name, *sizes, None, None, None, None, None, str(error)
        )
    here = ability_modes(part.responses, fit.a, fit.d, fit.prior_mean, fit.prior_sd)
    row = {model: index for index, model in enumerate(fitted.pool.responses.models)}
    full = ability[[row[model] for model in part.responses.models]]
    if min(here.std(), full.std()) < 1e-9:
        return SensitivityRow(
            kind,
            name,
            *sizes,
            None,
            None,
            None,
            None,
            None,
            "all models left are alike",
        )
    shift = _standard(here) - _standard(full)
    moved = int(np.argmax(np.abs(shift)))
    moves = np.abs(scipy_stats.rankdata(-here) - scipy_stats.rankdata(-full))
    return SensitivityRow(
        kind=kind,
        left_out=name,
        n_models=sizes[0],
        n_items=sizes[1],
        tau=finite_or_none(float(scipy_stats.kendalltau(here, full).statistic)),
        leader=part.responses.models[int(np.argmax(here))],
        most_moved=part.responses.models[moved],
        shift=float(shift[moved]),
        most_places=int(np.ceil(moves.max())),
        reason="",
    )


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((values - values.mean()) / values.std())
