"""Which item response model a pool gets, and the fit of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.irt.fit_view import FamilyRow, FittedItemRow, FormRow, IrtReport
from warehouse.analysis.irt.pool import Pool
from warehouse.analysis.irt.results import BlockRow
from warehouse.analysis.results import finite_or_none, part_fields
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats.items.discrimination import FreeDiscrimination, free_discrimination
from warehouse.stats.items.fit_and_dif import (
    Dif,
    HeldOut,
    ItemFit,
    family_dif,
    held_out_loss,
    item_fit,
)
from warehouse.stats.items.irt import (
    LINKS_FOR_2PL,
    MODELS_FOR_2PL,
    IrtFit,
    as_model,
    fit_irt,
)
from warehouse.stats.items.links import blocks_by_items, check_connected, linking_items
from warehouse.stats.items.responses import Responses

_NAMED = 5
_ORGANISATION = re.compile(r"/|--")
#: Characters of a prompt that a row shows.
EXCERPT = 80


@dataclass(frozen=True, eq=False)
class Fitted:
    """A pool with its model."""

    pool: Pool  #: the answers.
    fit: IrtFit  #: of them.
    reason: str  #: why 1PL or 2PL.
    blocks: NDArray[np.intp]  #: number of each model's block, shape (M,).
    links: NDArray[np.intp] | None  #: linking items of each block; None for one block.

    @property
    def block_rows(self) -> tuple[BlockRow, ...]:
        """The blocks in words and numbers."""
        answered = self.pool.responses.answered()
        rows = []
        for block in range(len(self.fit.block_means)):
            own = np.flatnonzero(self.blocks == block)
            n_links = None
            if self.links is not None:
                n_links = int(self.links[block])
            rows.append(
                BlockRow(
                    block=block + 1,
                    n_models=len(own),
                    n_items=int(answered[own].any(axis=0).sum()),
                    n_links=n_links,
                    prior_mean=float(self.fit.block_means[block]),
                    models=tuple(self.fit.models[i] for i in own[:_NAMED]),
                )
            )
        return tuple(rows)

    @property
    def head(self) -> dict[str, Any]:
        """The fields that all results share."""
        pool = self.pool
        clusters = self.pool.clusters
        n_testlets = None
        if clusters is not None:
            n_testlets = len(np.unique(clusters))
        return {
            "benchmarks": pool.benchmarks,
            "model": self.fit.model,
            "model_reason": self.reason,
            "n_models": pool.responses.n_models,
            "n_items": pool.responses.n_items,
            "n_cells": self.fit.n_cells,
            "n_testlets": n_testlets,
            "input_fingerprint": pool.fingerprint,
            "computed_at": "",
            "notes": (*pool.notes, *self._notes()),
        }

    def _notes(self) -> list[str]:
        fit, notes = self.fit, []
        if not fit.converged:
            notes.append("the fit did not reach its tolerance: figures are approximate")
        if "few_models" in fit.flags:
            notes.append(
                f"2PL from {len(fit.models)} models: discriminations lean on their "
                "prior (1PL is the default)"
            )
        if self.links is not None:
            notes.append(
                f"{len(fit.block_means)} blocks of models answered different prompts, "
                f"linked by {int(self.links.min())} or more; each has a mean of its own"
            )
        for names, word in (
            (fit.bridge_items, "prompts"),
            (fit.bridge_models, "models"),
        ):
            if names:
                more = ""
                if len(names) > _NAMED:
                    more = " ..."
                named = ", ".join(names[:_NAMED]) + more
                notes.append(
                    f"the scale hangs on these {word} alone ({len(names)}): {named}"
                )
        return notes


def fit_pool(pool: Pool, model: str | None = None) -> Fitted:
    """Fit a pool (StatisticsError: another model, models without a common scale; a 2PL
    that too few prompts link).

    Args:
        model: ``1pl`` or ``2pl``; None: 2PL from 20 models on, and, where blocks of
            models answered different prompts, 100 that link each block; else 1PL.
    """
    return Fitted(pool, *fit_linked(pool.responses, model))


def fit_linked(
    responses: Responses, model: str | None
) -> tuple[IrtFit, str, NDArray[np.intp], NDArray[np.intp] | None]:
    """The fit, why it is of this model, the block of each model, and how many prompts
    link each block."""
    if model is not None:
        as_model(model, responses.n_models)
    check_connected(responses)
    blocks = blocks_by_items(responses)
    several = bool(blocks.max() > 0)
    links = None
    if several:
        links = linking_items(responses, blocks)
    chosen, reason = model, "as asked"
    if chosen is None and responses.n_models < MODELS_FOR_2PL:
        chosen = "1pl"
        reason = f"fewer than {MODELS_FOR_2PL} models"
    elif chosen is None and links is not None and links.min() < LINKS_FOR_2PL:
        chosen = "1pl"
        reason = (
            f"blocks are linked by {int(links.min())} prompts, fewer than "
            f"{LINKS_FOR_2PL}"
        )
    elif chosen is None:
        chosen = "2pl"
        reason = f"{MODELS_FOR_2PL} models or more"
    own_blocks = None
    if several:
        own_blocks = blocks
    return (
        fit_irt(responses, chosen, blocks=own_blocks),
        reason,
        blocks,
        links,
    )


def families_of(pool: Pool, family: str | Mapping[str, str] | None) -> list[str | None]:
    """Family of each model, None where unknown (MisuseError: no such field, or no model
    of the pool among the names).

    Args:
        family: a field of runs (``developer``, ``family``), or family by name of model;
            None: what stands before the first ``/`` (or ``--``, as in names of folders)
            of its name.
    """
    if family is None:
        parts = (_ORGANISATION.split(name, maxsplit=1) for name in pool.names)
        return [part[0] if len(part) > 1 and part[0] else None for part in parts]
    if not isinstance(family, str):
        if not set(family) & {*pool.names, *pool.responses.models}:
            raise MisuseError(
                f"the families name none of the {len(pool.names)} models; models are "
                f"called such as {pool.names[0]!r}, found {list(family)[:1]}"
            )
        full = zip(pool.responses.models, pool.names, strict=True)
        return [family.get(model, family.get(name)) for model, name in full]
    columns = set(pool.conditions[0].runs[0])
    if family not in columns:
        raise MisuseError(
            f"runs have no field {family!r}; such as: family, developer, agent (see: "
            "warehouse list runs)"
        )
    values = [condition.setting(family) for condition in pool.conditions]
    return [None if value in (None, "") else str(value) for value in values]


def families_to_leave_out(families: Sequence[str | None]) -> list[str]:
    """Families of two models and more, the largest first; none where they are all
    models."""
    counted = Counter(name for name in families if name is not None)
    return [name for name, size in counted.most_common() if 1 < size < len(families)]


def excerpt_of(text: str | None) -> str:
    """The beginning of a prompt on one line."""
    return " ".join((text or "").split())[:EXCERPT]


@dataclass(frozen=True, eq=False)
class _Extras:
    """Further questions to a fit."""

    item_fit: ItemFit
    free: FreeDiscrimination
    dif: Dif | None
    dif_reason: str
    held_out: HeldOut | None
    held_out_reason: str


def report_of(
    pool: Pool, *, model: str | None, families: Sequence[str | None], seed: int
) -> IrtReport:
    """Fit a pool, and say what its prompts do (MisuseError: another model, models
    without a common scale).

    Args:
        model: ``1pl`` or ``2pl``; None: see `fit_pool`.
        families: of the models (`families_of`).
        seed: of the held-out cells.
    """
    fitted = fit_pool(pool, model)
    extras = _extras(fitted, families, seed)
    head = fitted.head
    if extras.held_out is None:
        head["notes"] = (*head["notes"], f"no held-out loss: {extras.held_out_reason}")
    return IrtReport(
        **head,
        rows=tuple(sorted(_rows(fitted, extras), key=_worst_first)),
        forms=tuple(
            FormRow(form.label, form.metric, form.n_items, form.n_models)
            for form in pool.forms
        ),
        blocks=fitted.block_rows,
        families=_families(extras.dif),
        dif_reason=extras.dif_reason,
        **_losses(extras.held_out),
        converged=fitted.fit.converged,
        bridge_models=fitted.fit.bridge_models,
    )


def _extras(fitted: Fitted, families: Sequence[str | None], seed: int) -> _Extras:
    fit = fitted.fit
    responses = fitted.pool.responses
    dif = None
    dif_reason = ""
    losses = None
    held_reason = ""
    try:
        dif = family_dif(fit, responses, families)
    except StatisticsError as error:
        dif_reason = str(error)
    try:
        if fitted.links is None:
            blocks = None
        else:
            blocks = fitted.blocks
        losses = held_out_loss(responses, seed=seed, blocks=blocks)
    except StatisticsError as error:
        held_reason = str(error)
    return _Extras(
        item_fit(fit, responses),
        free_discrimination(fit, responses),
        dif,
        dif_reason,
        losses,
        held_reason,
    )


def _rows(fitted: Fitted, extras: _Extras) -> list[FittedItemRow]:
    pool, fit = fitted.pool, fitted.fit
    n_models = pool.responses.cells(0)
    means = pool.means
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
            se_discrimination=finite_or_none(fit.se_a[j]),
            difficulty=float(fit.difficulty[j]),
            se_difficulty=finite_or_none(fit.se_difficulty[j]),
            infit=finite_or_none(extras.item_fit.infit[j]),
            outfit=finite_or_none(extras.item_fit.outfit[j]),
            z_infit=finite_or_none(extras.item_fit.z_infit[j]),
            constant=bool(constant[j]),
            free_discrimination=finite_or_none(extras.free.slope[j]),
            reversed=bool(extras.free.is_negative[j]),
            bridge=fit.items[j] in bridges,
            **worst[j],
            text=excerpt_of(pool.texts[j]),
        )
        for j, prompt in enumerate(pool.prompts.tolist())
    ]


def _dif_by_item(dif: Dif | None, n_items: int) -> list[dict[str, Any]]:
    """The family of models, for each item, for which it is most unlike its place."""
    none = {"dif_family": None, "dif_effect": None, "dif_q": None, "dif": False}
    if dif is None:
        return [none] * n_items
    q = np.stack([family.q_value for family in dif.families])
    by_item = []
    for j, row in enumerate(
        np.argmin(np.where(np.isnan(q), np.inf, q), axis=0).tolist()
    ):
        family = dif.families[row]
        tested = not np.isnan(q[row, j])
        effects = {
            "dif_family": family.family,
            "dif_effect": float(family.effect[j]),
            "dif_q": float(q[row, j]),
            "dif": bool(family.is_flagged[j]),
        }
        shown = none
        if tested:
            shown = effects
        by_item.append(shown)
    return by_item


def _families(dif: Dif | None) -> tuple[FamilyRow, ...]:
    return tuple(
        FamilyRow(
            family.family,
            family.n_models,
            family.n_others,
            int(family.is_flagged.sum()),
        )
        for family in (dif.families if dif else ())
    )


def _losses(losses: HeldOut | None) -> dict[str, Any]:
    found = part_fields(
        losses, "loss_1pl", "loss_2pl", "loss_items", loss_difference="difference"
    )
    of_error = {"loss_se": None, "n_held_out": 0}
    return found | (
        of_error
        if losses is None
        else {"loss_se": finite_or_none(losses.se), "n_held_out": losses.n_draws}
    )


def _worst_first(row: FittedItemRow) -> tuple[bool, float, str, str]:
    """The noisiest first, constant ones last."""
    return (
        row.constant,
        -(row.z_infit if row.z_infit is not None else -9.0),
        row.benchmark,
        row.key,
    )
