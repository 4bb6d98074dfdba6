"""From a fitted pool to the table of its prompts: errors, fit, families, held-out loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.irt.fitting import Fitted, excerpt_of, fit_pool, known
from warehouse.analysis.irt.pool import Pool
from warehouse.analysis.irt.results import FamilyRow, FittedItemRow, FormRow, IrtReport
from warehouse.errors import StatisticsError
from warehouse.stats.items.discrimination import FreeDiscrimination, free_discrimination
from warehouse.stats.items.fit_and_dif import Dif, HeldOut, ItemFit, family_dif, held_out_loss, item_fit


@dataclass(frozen=True, eq=False)
class _Extras:
    """What is asked of a fit besides."""

    item_fit: ItemFit
    free: FreeDiscrimination
    dif: Dif | None
    dif_reason: str
    held_out: HeldOut | None
    held_out_reason: str


def report_of(pool: Pool, *, model: str | None, families: Sequence[str | None], seed: int) -> IrtReport:
    """Fit a pool, and say what its prompts do.

    Args:
        pool: the answers.
        model: ``1pl`` or ``2pl``; None: see `fit_pool`.
        families: of the models (`families_of`).
        seed: of the held-out cells.

    Raises:
        MisuseError: another model, models without a common scale.
    """
    fitted = fit_pool(pool, model)
    extras = _extras(fitted, families, seed)
    head = fitted.head
    if extras.held_out is None:
        head["notes"] = (*head["notes"], f"no held-out loss: {extras.held_out_reason}")
    return IrtReport(
        **head,
        rows=tuple(sorted(_rows(fitted, extras), key=_worst_first)),
        forms=tuple(FormRow(form.label, form.metric, form.n_items, form.n_models) for form in pool.forms),
        blocks=fitted.block_rows,
        families=_families(extras.dif),
        dif_reason=extras.dif_reason,
        **_losses(extras.held_out),
        converged=fitted.fit.converged,
        bridge_models=fitted.fit.bridge_models,
    )


def _extras(fitted: Fitted, families: Sequence[str | None], seed: int) -> _Extras:
    fit, responses = fitted.fit, fitted.pool.responses
    dif, dif_reason, losses, held_reason = None, "", None, ""
    try:
        dif = family_dif(fit, responses, families)
    except StatisticsError as error:
        dif_reason = str(error)
    try:
        blocks = None if fitted.links is None else fitted.blocks
        losses = held_out_loss(responses, seed=seed, blocks=blocks)
    except StatisticsError as error:
        held_reason = str(error)
    return _Extras(item_fit(fit, responses), free_discrimination(fit, responses), dif, dif_reason, losses, held_reason)


def _rows(fitted: Fitted, extras: _Extras) -> list[FittedItemRow]:
    pool, fit = fitted.pool, fitted.fit
    n_models, means = pool.responses.cells(0), pool.means
    constant = pool.responses.minority() == 0
    bridges = set(fit.bridge_items)
    worst = _dif_by_item(extras.dif, len(fit.a))
    return [
        FittedItemRow(
            prompt=f"prompt:{prompt}",
            key=pool.keys[j],
            benchmark=pool.forms[pool.form[j]].label,
            n_models=int(n_models[j]),
            mean_score=float(means[j]),
            discrimination=float(fit.a[j]),
            se_discrimination=known(fit.se_a[j]),
            difficulty=float(fit.difficulty[j]),
            se_difficulty=known(fit.se_difficulty[j]),
            infit=known(extras.item_fit.infit[j]),
            outfit=known(extras.item_fit.outfit[j]),
            z_infit=known(extras.item_fit.z_infit[j]),
            constant=bool(constant[j]),
            free_discrimination=known(extras.free.slope[j]),
            reversed=bool(extras.free.is_negative[j]),
            bridge=fit.items[j] in bridges,
            **worst[j],
            text=excerpt_of(pool.texts[j]),
        )
        for j, prompt in enumerate(pool.prompts.tolist())
    ]


def _dif_by_item(dif: Dif | None, n_items: int) -> list[dict[str, Any]]:
    """Of each item the family for which it is most unlike its place."""
    none = {"dif_family": None, "dif_effect": None, "dif_q": None, "dif": False}
    if dif is None:
        return [none] * n_items
    q = np.stack([family.q_value for family in dif.families])
    by_item = []
    for j, place in enumerate(np.argmin(np.where(np.isnan(q), np.inf, q), axis=0).tolist()):
        family = dif.families[place]
        tested = not np.isnan(q[place, j])
        effects = {
            "dif_family": family.family,
            "dif_effect": float(family.effect[j]),
            "dif_q": float(q[place, j]),
            "dif": bool(family.is_flagged[j]),
        }
        by_item.append(effects if tested else none)
    return by_item


def _families(dif: Dif | None) -> tuple[FamilyRow, ...]:
    return tuple(
        FamilyRow(one.family, one.n_models, one.n_others, int(one.is_flagged.sum()))
        for one in (dif.families if dif else ())
    )


def _losses(losses: HeldOut | None) -> dict[str, Any]:
    if losses is None:
        names = ("loss_1pl", "loss_2pl", "loss_items", "loss_difference", "loss_se")
        return dict.fromkeys(names) | {"n_held_out": 0}
    return {
        "loss_1pl": losses.loss_1pl,
        "loss_2pl": losses.loss_2pl,
        "loss_items": losses.loss_items,
        "loss_difference": losses.difference,
        "loss_se": known(losses.se),
        "n_held_out": losses.n_draws,
    }


def _worst_first(row: FittedItemRow) -> tuple[bool, float, str, str]:
    """The noisiest first, constant ones last."""
    return (row.constant, -(row.z_infit if row.z_infit is not None else -9.0), row.benchmark, row.key)
