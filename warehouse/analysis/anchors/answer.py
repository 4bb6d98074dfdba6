"""Anchors of a benchmark or suite: a few prompts that stand for all, with their
measured errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.anchors.question import Anchors
from warehouse.analysis.anchors.view import (
    anchors_table,
    brief_errors,
    errors_parts,
    models_table,
)
from warehouse.analysis.irt.fitting import excerpt_of
from warehouse.analysis.irt.pool import Pool, read_pool
from warehouse.analysis.reliability.results import (
    AnchorErrorRow,
    AnchorModelRow,
    AnchorRow,
)
from warehouse.analysis.results import Result, finite_or_none
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.tree import benchmarks_named
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.run_fields import CHECKPOINT_FIELDS, WHO_FIELDS
from warehouse.stats.items.anchor_errors import (
    LEAST_MODELS,
    Estimates,
    RecipeCheckpoints,
    anchor_errors,
    anchor_estimates,
    fit_items,
    irt_anchors,
    shares_of,
)
from warehouse.stats.items.anchors import choose_anchors
from warehouse.stats.items.irt import as_model
from warehouse.store.connection import Store
from warehouse.tables.view import Part, View
from warehouse.tables.words import counted

_SIZES = (50, 100)
_NAMED = 5
#: What the columns of errors are.
_OFF = (
    "off by: points of 100, of a model that the anchors were chosen without (standard "
    "error); largest: of any model; reversed: pairs of models in the wrong order"
)
_BIASED = (
    "anchors are biased by design: never report a score of theirs as the benchmark's"
)
#: A recipe is what runs share besides checkpoint and seed.
_RECIPE = tuple(
    name
    for name in WHO_FIELDS
    if name not in {*CHECKPOINT_FIELDS, "training_seed", "position_unit"}
)


@dataclass(frozen=True)
class AnchorReport(Result):
    """Anchors, biased by design, and what they would have cost on stored models."""

    DRAWN_BY = "warehouse.analysis.anchors.charts:anchor_charts"

    notebook_columns: ClassVar[tuple[str, ...]] = (
        "n_items",
        "method",
        "error",
        "bias",
        "tau",
        "reversals",
    )
    benchmarks: tuple[str, ...]  #: names.
    #: n_models, n_items: complete answers.
    n_models: int
    n_items: int
    model: str  #: ``1pl``, ``2pl``, or ``2pl of N dimensions``.
    by: str  #: ``irt`` or ``scores``: what the anchors are clustered by.
    #: of the last size, in the order of their benchmarks and keys.
    anchors: tuple[AnchorRow, ...]
    rows: tuple[AnchorErrorRow, ...]  #: errors on models left out, by size and method.
    #: each model by all prompts and by each estimate from the last size; empty unless
    #: asked for.
    models: tuple[AnchorModelRow, ...]
    seed: int  #: of everything random.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        last = [row for row in self.rows if row.n_items == len(self.anchors)]
        best = min(last, key=lambda row: row.error)
        plain = next(row for row in last if row.method == "random")
        name = best.method.replace("_", "-")
        random = f"{100 * plain.error:.2g} points off on models left out"
        if best is plain:
            return (
                f"No estimate from {best.n_items} anchors beats as many random prompts "
                f"({random})"
            )
        return (
            f"{best.n_items} anchors of {self.n_items} prompts give a score "
            f"{100 * best.error:.2g} points off (best: {name}), as many random prompts "
            f"{random}"
        )

    def view(
        self, *, verbose: bool = False, listed: bool = False, models: bool = False
    ) -> View:
        """The errors of estimates from anchors.

        Args:
            verbose: every figure of the errors.
            listed: the anchors themselves instead.
            models: scores of each model by them instead.
        """
        parts: list[Part] = ["", brief_errors(self.rows), "", _OFF]
        if verbose:
            parts = [self._of_errors, "", *errors_parts(self.rows)]
        if models:
            parts = [self._of_models, "", models_table(self.models)]
        if listed:
            parts = ["", anchors_table(self.anchors)]
        return View((f"{self.one_line}.", *parts), (*self.notes, _BIASED))

    @property
    def _of_errors(self) -> str:
        return (
            f"{', '.join(self.benchmarks)}: {self.n_models} models, {self.n_items} "
            f"prompts, {self.model.upper()}; each model is estimated from anchors "
            "chosen without it. Errors in points of 100."
        )

    @property
    def _of_models(self) -> str:
        return (
            f"Scores in points of 100, from {len(self.anchors)} anchors chosen without "
            "the model; its standard error, over prompts or anchors, in brackets: it "
            "knows nothing of the bias of anchors."
        )


@answers(Anchors)
def anchors(store: Store, question: Anchors) -> AnchorReport:
    """Anchors by k-means, and how far estimates from them are off for models that they
    were not chosen on."""
    sizes, by, model, seed = question.sizes, question.by, question.model, question.seed
    selection = selection_of(question, cluster="none")
    pool = read_pool(store, benchmarks_named(store, question.benchmarks), selection)
    whole, notes = _complete(pool)
    responses = whole.responses
    usual = (
        _SIZES
        if responses.n_items >= 2 * max(_SIZES)
        else (max(2, responses.n_items // 5),)
    )
    anchor_counts = sorted(set(usual if sizes is None else sizes))
    if anchor_counts[-1] >= responses.n_items:
        raise MisuseError(
            f"{anchor_counts[-1]} anchors of {responses.n_items} prompts; there must "
            "be fewer"
        )
    omega = _weights(whole)
    families = np.array(whole.names)
    found, spread = anchor_estimates(
        responses,
        anchor_counts,
        weights=omega,
        groups=families,
        model=question.dimensions or model,
        jackknife=question.models,
        seed=seed,
    )
    errors = anchor_errors(
        responses,
        anchor_counts,
        weights=omega,
        curves=_curves(whole),
        estimates=found,
        seed=seed,
    )
    fitted = as_model(model, responses.n_models)
    if by == "irt":
        fit = fit_items(responses, question.dimensions or fitted)
        chosen = irt_anchors(
            fit, responses, anchor_counts[-1], weights=omega, seed=seed
        )
    else:
        chosen = choose_anchors(
            shares_of(responses).T, anchor_counts[-1], weights=omega, seed=seed
        )
    if question.dimensions:
        fitted = f"2pl of {counted(question.dimensions, 'dimension')}"
    elif fitted == "1pl":
        notes.append(
            "1PL (fewer than 20 models): prompts differ in difficulty alone; anchors "
            "are by score columns"
        )
    means, sizes_of = whole.means, np.bincount(chosen.clusters)
    return AnchorReport(
        benchmarks=whole.benchmarks,
        n_models=responses.n_models,
        n_items=responses.n_items,
        model=fitted,
        by=by,
        anchors=tuple(
            AnchorRow(
                prompt=f"prompt:{whole.prompts[j]}",
                key=whole.keys[j],
                benchmark=whole.forms[whole.form[j]].label,
                weight=float(chosen.weights[index]),
                n_items=int(sizes_of[index]),
                mean_score=float(means[j]),
                text=excerpt_of(whole.texts[j]),
            )
            for index, j in enumerate(chosen.items.tolist())
        ),
        rows=tuple(AnchorErrorRow(**vars(row)) for row in errors),
        models=tuple(_model_rows(whole, found, spread, omega))
        if question.models
        else (),
        seed=seed,
        notes=(*whole.notes, *notes),
    )


def _model_rows(
    pool: Pool,
    found: Estimates,
    spread: dict[str, NDArray[np.float64]],
    omega: NDArray[np.float64],
) -> Iterator[AnchorModelRow]:
    y = shares_of(pool.responses)
    size = max(size for size, _ in found)
    scores = {"all": y @ omega} | {method: found[size, method] for method in spread}
    error = np.sqrt(
        ((y - scores["all"][:, None]) ** 2 @ omega**2) * len(omega) / (len(omega) - 1)
    )
    for index, (model, name) in enumerate(
        zip(pool.responses.models, pool.names, strict=True)
    ):
        setting = pool.conditions[index].setting
        position = setting("position")
        training = f"{name} {setting('training_seed') or ''}".strip()
        for method, values in scores.items():
            own_position = None
            if position is not None:
                own_position = float(position)
            n_items = size
            if method == "all":
                n_items = len(omega)
                own_error = error
            else:
                own_error = spread[method]
            yield AnchorModelRow(
                model=model,
                training=training,
                position=own_position,
                method=method,
                n_items=n_items,
                estimate=float(values[index]),
                standard_error=finite_or_none(own_error[index]),
            )


def _complete(pool: Pool) -> tuple[Pool, list[str]]:
    """Models that answered most, and the prompts that all of them did."""
    answered = pool.responses.answered()
    notes = []
    models = np.ones(len(answered), bool)
    items = np.asarray(answered.all(axis=0))
    most = answered.mean(axis=1) > 0.95
    # the others cost more than they are worth
    if items.sum() < answered.shape[1] / 2 and most.sum() >= LEAST_MODELS:
        models = most
        items = np.asarray(answered[most].all(axis=0))
    if not models.all():
        left = [
            name
            for name, complete in zip(pool.responses.models, models, strict=True)
            if not complete
        ]
        notes.append(
            f"{len(left)} left out, which lack prompts: {', '.join(left[:_NAMED])}"
        )
    part = pool.part(models, items)
    if part is None:
        raise MisuseError(
            f"no two prompts have answers of all {int(models.sum())} models; anchors "
            "need them complete"
        )
    if not items.all():
        notes.append(
            f"{int((~items).sum())} prompts that not all models answered are left out"
        )
    return part, notes


def _weights(pool: Pool) -> NDArray[np.float64]:
    """ω: benchmarks alike, prompts of one alike."""
    sizes = np.bincount(pool.form, minlength=len(pool.forms))
    return np.asarray(1.0 / (sizes[pool.form] * np.count_nonzero(sizes)))


def _curves(pool: Pool) -> RecipeCheckpoints | None:
    """Which models are seeds and checkpoints of one recipe; None if none are."""
    recipes = []
    for condition in pool.conditions:
        recipes.append(str([condition.setting(name) for name in _RECIPE]))
    seeds = [
        str(condition.setting("training_seed") or "") for condition in pool.conditions
    ]
    positions = [condition.setting("position") for condition in pool.conditions]
    labels: dict[str, set[tuple[str, object]]] = {recipe: set() for recipe in recipes}
    for recipe, seed, position in zip(recipes, seeds, positions, strict=True):
        labels[recipe].add((seed, position))
    if all(len(own) < 2 for own in labels.values()):
        return None
    return RecipeCheckpoints(
        recipe=np.unique(recipes, return_inverse=True)[1],
        seed=np.unique(seeds, return_inverse=True)[1],
        position=np.array(
            [np.nan if value is None else float(value) for value in positions]
        ),
    )
