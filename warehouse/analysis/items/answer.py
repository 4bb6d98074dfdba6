"""Single prompts and what they say about models: difficulty, discrimination, and which
go against the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.irt.fitting import fit_linked
from warehouse.analysis.items.question import Items
from warehouse.analysis.items.view import ItemReport, ItemRow
from warehouse.analysis.matrix.read import MatrixData, read_matrix
from warehouse.analysis.selection.clusterings import SAME_TEXT, cluster_map
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import StatisticsError
from warehouse.questions.question import answers
from warehouse.stats.items.discrimination import (
    MODELS_FOR_RAW,
    UNIDENTIFIED,
    Discrimination,
    FreeDiscrimination,
    discrimination,
    free_discrimination,
    implied_discrimination,
    power_of_flags,
    smallest_against,
)
from warehouse.stats.items.fit_and_dif import item_fit
from warehouse.stats.items.irt import IrtFit
from warehouse.stats.items.responses import as_responses, binarise
from warehouse.store.connection import Store

#: Characters of a prompt that a row shows.
EXCERPT = 80


@answers(Items)
def items(store: Store, question: Items) -> ItemReport:
    """Prompts with their figures, those that go most against the rest first."""
    data = read_matrix(store, selection_of(question), gaps=True)
    if data.higher_is_better is False:
        oriented = -data.values
    else:
        oriented = data.values
    table = discrimination(oriented.T)
    notes = list(data.notes)
    if table.flags:
        notes.append(
            f"correlations over {len(data.models)} models are mostly noise (below "
            f"{MODELS_FOR_RAW}): read r implied"
        )
    notes += _findable(table)
    if question.irt == "none":
        fit = None
    else:
        fit = _Fitted.of(data, question.irt, notes)
    rows = sorted(_rows(data, table, fit, copies_of(store, data)), key=_against_first)
    model = ""
    if fit:
        model = fit.fit.model
    return ItemReport(
        data.benchmark,
        data.metric,
        len(data.models),
        model,
        tuple(rows),
        tuple(notes),
    )


def _findable(table: Discrimination) -> list[str]:
    """Notes on what so many models can find out about so many prompts, where they find
    nothing."""
    tested = table.n_models[~np.isnan(table.q_negative)]
    if table.is_negative.any():
        flagged = int(table.is_negative.sum())
        power = power_of_flags(int(np.median(tested)))
        return [
            f"{flagged} go against the rest ({power}: unflagged is not cleared). "
            f"{UNIDENTIFIED}"
        ]
    if not len(tested):
        return [
            "no prompt could be tested for going against the rest: that takes 3 models "
            "and scores that vary"
        ]
    models = int(np.median(tested))
    least = smallest_against(models, len(tested), table.alpha)
    if np.isnan(least):
        return []
    return [
        f"none goes against the rest: among {len(tested)} prompts {models} models show "
        f"one alone only if its r_c is {least:.2f} or lower ({power_of_flags(models)}: "
        "unflagged is not cleared)"
    ]


@dataclass(frozen=True)
class _Fitted:
    """An item response model of the matrix."""

    fit: IrtFit
    implied: NDArray[np.float64]
    outfit: NDArray[np.float64]
    free: FreeDiscrimination

    @staticmethod
    def of(data: MatrixData, model: str | None, notes: list[str]) -> _Fitted | None:
        """None where scores are not between 0 and 1, with a note."""
        scores = data.values.T
        if np.nanmin(scores) < 0 or np.nanmax(scores) > 1:
            notes.append("no item response model: scores are not between 0 and 1")
            return None
        if data.higher_is_better is False:
            scores = 1 - scores
        if not np.isin(scores[~np.isnan(scores)], (0.0, 1.0)).all():
            scores, threshold = binarise(scores)
            notes.append(
                f"item response model: scores above {threshold:g} count as right, "
                "others as wrong"
            )
        try:
            responses = as_responses(scores, models=data.models)
            fit = fit_linked(responses, model)[0]
        except StatisticsError as error:
            notes.append(f"no item response model: {error}")
            return None
        return _Fitted(
            fit,
            implied_discrimination(fit, responses),
            item_fit(fit, responses).outfit,
            free_discrimination(fit, responses),
        )


def _rows(
    data: MatrixData, table: Discrimination, fitted: _Fitted | None, copies: Copies
) -> list[ItemRow]:
    fit = None
    if fitted:
        fit = fitted.fit

    def of(values: NDArray[np.float64] | None, index: int) -> float | None:
        if values is None or np.isnan(values[index]):
            return None
        return float(values[index])

    return [
        ItemRow(
            prompt=f"prompt:{prompt}",
            key=data.keys[i],
            n_models=int(table.n_models[i]),
            mean_score=float(np.nanmean(data.values[i])),
            r_implied=of(fitted.implied if fitted else None, i),
            r_corrected=of(table.corrected, i),
            q_negative=of(table.q_negative, i),
            negative=bool(table.is_negative[i]),
            constant=bool(table.is_constant[i]),
            free_discrimination=of(fitted.free.slope if fitted else None, i),
            reversed=bool(fitted and fitted.free.is_negative[i]),
            discrimination=of(fit.a if fit else None, i),
            se_discrimination=of(fit.se_a if fit else None, i),
            difficulty=of(fit.difficulty if fit else None, i),
            se_difficulty=of(fit.se_difficulty if fit else None, i),
            outfit=of(fitted.outfit if fitted else None, i),
            same_text=int(copies.same_text[i]),
            near=None if copies.near is None else int(copies.near[i]),
            text=" ".join((data.texts[i] or "").split())[:EXCERPT],
        )
        for i, prompt in enumerate(data.prompts.tolist())
    ]


def _against_first(row: ItemRow) -> tuple[float, float, str]:
    """Negative ones by their q, then those against the fitted ability, the least
    discriminating; constant ones last."""
    if row.negative and row.q_negative is not None:
        q = row.q_negative
    elif row.reversed:
        q = 1.5
    else:
        q = 2.0
    if row.r_implied is None:
        r = row.r_corrected
    else:
        r = row.r_implied
    return (3.0 if row.constant else q, 1.0 if r is None else r, row.key)


_SEMANTIC = (
    "select distinct name from clustering where kind = 'semantic' and benchmark_id in "
    "(:benchmark_ids)"
)

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Copies:
    """For each prompt of a matrix how many others of its rows are like it."""

    same_text: Counts  #: with the same normalised text, shape (n,).
    #: in its semantic cluster, the largest of several clusterings, shape (n,); None
    #: where none is stored.
    near: Counts | None


def copies_of(store: Store, data: MatrixData) -> Copies:
    """The copies of every prompt of a matrix."""
    ids = np.unique(data.benchmark_ids).tolist()
    near = [
        _others(store, data, ids, row["name"])
        for row in store.rows(_SEMANTIC, {"benchmark_ids": ids})
    ]
    nearest = None
    if near:
        nearest = np.max(near, axis=0)
    return Copies(_others(store, data, ids, SAME_TEXT), nearest)


def _others(store: Store, data: MatrixData, ids: list[int], clustering: str) -> Counts:
    labels = cluster_map(store, ids, (), clustering).labels(data.prompts)
    if labels is None:
        return np.zeros(len(data.prompts), dtype=np.int64)
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(counts[codes] - 1, dtype=np.int64)
