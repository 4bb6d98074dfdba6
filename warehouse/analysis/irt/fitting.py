"""Which item response model a pool gets, and the fit of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.irt.pool import Pool
from warehouse.analysis.irt.results import BlockRow
from warehouse.errors import MisuseError
from warehouse.stats.items.irt import LINKS_FOR_2PL, MODELS_FOR_2PL, IrtFit, as_model, fit_irt
from warehouse.stats.items.links import blocks_by_items, check_connected, linking_items
from warehouse.stats.items.responses import Responses

_NAMED = 5
_ORGANISATION = re.compile(r"/|--")
#: Characters of a prompt that a row shows.
EXCERPT = 80


@dataclass(frozen=True, eq=False)
class Fitted:
    """A pool with its model.

    Attributes:
        pool: the answers.
        fit: of them.
        reason: why 1PL or 2PL.
        blocks: number of each model's block, shape (M,).
        links: linking items of each block; None for one block.
    """

    pool: Pool
    fit: IrtFit
    reason: str
    blocks: NDArray[np.intp]
    links: NDArray[np.intp] | None

    @property
    def block_rows(self) -> tuple[BlockRow, ...]:
        """The blocks in words and numbers."""
        answered = self.pool.responses.answered()
        rows = []
        for block in range(len(self.fit.block_means)):
            own = np.flatnonzero(self.blocks == block)
            rows.append(
                BlockRow(
                    block=block + 1,
                    n_models=len(own),
                    n_items=int(answered[own].any(axis=0).sum()),
                    n_links=None if self.links is None else int(self.links[block]),
                    prior_mean=float(self.fit.block_means[block]),
                    models=tuple(self.fit.models[i] for i in own[:_NAMED]),
                )
            )
        return tuple(rows)

    @property
    def head(self) -> dict[str, Any]:
        """The fields that all results share."""
        pool, clusters = self.pool, self.pool.clusters
        return {
            "benchmarks": pool.benchmarks,
            "model": self.fit.model,
            "model_reason": self.reason,
            "n_models": pool.responses.n_models,
            "n_items": pool.responses.n_items,
            "n_cells": self.fit.n_cells,
            "n_testlets": None if clusters is None else len(np.unique(clusters)),
            "input_fingerprint": pool.fingerprint,
            "computed_at": "",
            "notes": (*pool.notes, *self._notes()),
        }

    def _notes(self) -> list[str]:
        fit, notes = self.fit, []
        if not fit.converged:
            notes.append("the fit did not reach its tolerance: figures are approximate")
        if "few_models" in fit.flags:
            notes.append(f"2PL from {len(fit.models)} models: discriminations lean on their prior (1PL is the default)")
        if self.links is not None:
            notes.append(
                f"{len(fit.block_means)} blocks of models answered different prompts, linked by"
                f" {int(self.links.min())} or more; each has a mean of its own"
            )
        for names, word in ((fit.bridge_items, "prompts"), (fit.bridge_models, "models")):
            if names:
                named = ", ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")
                notes.append(f"the scale hangs on these {word} alone ({len(names)}): {named}")
        return notes


def fit_pool(pool: Pool, model: str | None = None) -> Fitted:
    """Fit a pool.

    Args:
        pool: the answers.
        model: ``1pl`` or ``2pl``; None: 2PL from 20 models on, and, where blocks of models answered
            different prompts, 100 that link each block; else 1PL.

    Raises:
        StatisticsError: another model, models without a common scale; a 2PL that too few prompts link.
    """
    return Fitted(pool, *fit_linked(pool.responses, model))


def fit_linked(
    responses: Responses, model: str | None
) -> tuple[IrtFit, str, NDArray[np.intp], NDArray[np.intp] | None]:
    """The fit, why it is of this model, the block of each model, and how many prompts link each block."""
    if model is not None:
        as_model(model, responses.n_models)
    check_connected(responses)
    blocks = blocks_by_items(responses)
    several = bool(blocks.max() > 0)
    links = linking_items(responses, blocks) if several else None
    chosen, reason = model, "as asked"
    if chosen is None and responses.n_models < MODELS_FOR_2PL:
        chosen, reason = "1pl", f"fewer than {MODELS_FOR_2PL} models"
    elif chosen is None and links is not None and links.min() < LINKS_FOR_2PL:
        chosen, reason = "1pl", f"blocks are linked by {int(links.min())} prompts, fewer than {LINKS_FOR_2PL}"
    elif chosen is None:
        chosen, reason = "2pl", f"{MODELS_FOR_2PL} models or more"
    return fit_irt(responses, chosen, blocks=blocks if several else None), reason, blocks, links


def families_of(pool: Pool, family: str | Mapping[str, str] | None) -> list[str | None]:
    """Family of each model, None where unknown.

    Args:
        family: a field of runs (``developer``, ``family``), or family by name of model; None: what
            stands before the first ``/`` (or ``--``, as in names of folders) of its name.

    Raises:
        MisuseError: no such field, or no model of the pool among the names.
    """
    if family is None:
        parts = (_ORGANISATION.split(name, maxsplit=1) for name in pool.names)
        return [part[0] if len(part) > 1 and part[0] else None for part in parts]
    if not isinstance(family, str):
        if not set(family) & {*pool.names, *pool.responses.models}:
            raise MisuseError(
                f"the families name none of the {len(pool.names)} models; models are called such as"
                f" {pool.names[0]!r}, found {list(family)[:1]}"
            )
        full = zip(pool.responses.models, pool.names, strict=True)
        return [family.get(model, family.get(name)) for model, name in full]
    known = set(pool.conditions[0].runs[0])
    if family not in known:
        raise MisuseError(f"runs have no field {family!r}; such as: family, developer, agent (see: warehouse runs)")
    values = [condition.setting(family) for condition in pool.conditions]
    return [None if value in (None, "") else str(value) for value in values]


def families_to_leave_out(families: Sequence[str | None]) -> list[str]:
    """Families of two models and more, the largest first; none where they are all models."""
    counted = Counter(name for name in families if name is not None)
    return [name for name, size in counted.most_common() if 1 < size < len(families)]


def excerpt_of(text: str | None) -> str:
    """The beginning of a prompt on one line."""
    return " ".join((text or "").split())[:EXCERPT]


def known(value: float) -> float | None:
    """None in place of NaN and infinities."""
    return float(value) if np.isfinite(value) else None
