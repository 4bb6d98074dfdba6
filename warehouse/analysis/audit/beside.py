"""What else speaks against a key: equal questions with other keys, items that go against the rest,
answers that are wrong and always alike, and other suspects of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.keys import Key
from warehouse.analysis.audit.read import StoredAnswers
from warehouse.analysis.audit.votes import AuditData
from warehouse.analysis.items.datamap import MAX_P, MIN_S
from warehouse.analysis.selection.clusterings import SAME_TEXT, ClusterMap
from warehouse.analysis.selection.score_matrix import score_table
from warehouse.stats import near_pairs
from warehouse.stats.items.discrimination import discrimination
from warehouse.stats.labels.votes import Votes

#: Cosine similarity from which on two prompts ask nearly the same.
NEAR = 0.95
#: Near pairs that are looked at, the most similar ones.
KEEP = 20_000
#: Prompts of one text from which on it is an instruction that they share, and no question asked twice.
INSTRUCTION = 50


@dataclass(frozen=True)
class Beside:
    """Of each prompt, in the order of the data.

    Attributes:
        contradicts: place of a prompt that asks the same and has another key; −1 for none, shape (J,).
        negative: 1, 0, NaN if unknown, shape (J,).
        constant: 1, 0, NaN if unknown, shape (J,).
        datamap_models: NaN where no model answered it more than once, shape (J,).
        clusters: number of its cluster; −1 without, shape (J,).
        labels: name of each cluster by number.
        notes: where figures come from.
    """

    contradicts: NDArray[np.int64]
    negative: NDArray[np.float64]
    constant: NDArray[np.float64]
    datamap_models: NDArray[np.float64]
    clusters: NDArray[np.int64]
    labels: Mapping[int, str]
    notes: tuple[str, ...]


def look_beside(stored: StoredAnswers, data: AuditData) -> Beside:
    """What is known of the prompts beside the votes; clusters are those of the error bars."""
    clusters = stored.scores.clusters
    negative, constant = _as_items(data, clusters)
    labels = clusters.labels(data.ids)
    members = np.full(len(data.ids), -1, dtype=np.int64) if labels is None else np.maximum(labels, -1)
    near, notes = _near_pairs(stored, data)
    return Beside(
        contradicts=_contradictions(data, [*_same_text(data), *near]),
        negative=negative,
        constant=constant,
        datamap_models=_datamap_models(data.votes, data.draws),
        clusters=members,
        labels=stored.labels,
        notes=notes,
    )


def _as_items(data: AuditData, clusters: ClusterMap) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Significantly negative and constant prompts, over all models; NaN where fewer than two scored one."""
    table = score_table(data.entries, clusters)
    negative, constant = np.full((2, len(data.ids)), np.nan)
    if min(table.values.shape) < 2:
        return negative, constant
    higher = data.entries[0].metric.higher_is_better is not False
    known = discrimination((table.values if higher else -table.values).T)
    place = {prompt: row for row, prompt in enumerate(table.prompts.tolist())}
    rows = np.array([place.get(prompt, -1) for prompt in data.ids.tolist()], dtype=np.intp)
    usable = rows >= 0
    usable[usable] = known.n_models[rows[usable]] >= 2
    negative[usable], constant[usable] = known.is_negative[rows[usable]], known.is_constant[rows[usable]]
    return negative, constant


def _same_text(data: AuditData) -> Iterable[tuple[int, int]]:
    groups: dict[Any, list[int]] = {}
    for item, row in enumerate(data.prompts):
        if row["text_hash"] is not None:
            groups.setdefault(row["text_hash"], []).append(item)
    asked_again = (members for members in groups.values() if len(members) < INSTRUCTION)
    return ((a, b) for members in asked_again for a in members for b in members if a < b)


def _near_pairs(stored: StoredAnswers, data: AuditData) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    """Pairs of prompts whose stored vectors are nearly alike, and a note on where these come from."""
    if stored.near is None:
        return [], ()
    vectors, embedder = stored.near
    place = {prompt: item for item, prompt in enumerate(data.ids.tolist())}
    own = [row for row, prompt in enumerate(vectors.prompts.tolist()) if prompt in place]
    if len(own) < 2:
        return [], ()
    near = near_pairs(vectors.vectors[own], NEAR, keep=KEEP)
    items = [place[prompt] for prompt in vectors.prompts[own].tolist()]
    pairs = [(items[a], items[b]) for a, b in zip(near.first.tolist(), near.second.tolist(), strict=True)]
    return pairs, (f"near-duplicates: questions at least {NEAR:g} alike by {embedder}",)


def _contradictions(data: AuditData, pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    contradicts = np.full(len(data.ids), -1, dtype=np.int64)
    for a, b in pairs:
        if _differ(data.keys[a], data.keys[b]):
            for one, other in ((a, b), (b, a)):
                contradicts[one] = other if contradicts[one] < 0 else contradicts[one]
    return contradicts


def _differ(a: Key, b: Key) -> bool:
    """Whether two keys cannot both be right, if the questions are the same: each is an option of the other."""
    if a.reason or b.reason:
        return False
    if a.options is None or b.options is None:
        return a.options is b.options and not set(a.texts) & set(b.texts)
    if a.option is None or b.option is None or not a.options.texts or not b.options.texts:
        return False
    of_a, of_b = a.options.texts[a.option], b.options.texts[b.option]
    there, here = b.options.place_of_text(of_a), a.options.place_of_text(of_b)
    return there is not None and here is not None and there != b.option


def _datamap_models(votes: Votes, draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Models that answer a prompt wrongly and always alike, as the data map has it (P ≤ .1, S ≥ −.8)."""
    several = draws[votes.items] > 1
    n_models = np.full(votes.n_items, np.nan)
    if not several.any():
        return n_models
    shares = votes.shares * votes.copies[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(votes.shares > 0, votes.shares * np.log(votes.shares), 0.0) * votes.copies[:, None]
        unparsed = np.clip(votes.asked - votes.totals(shares), 0.0, 1.0)
        consistency = votes.totals(entropy) + np.where(unparsed > 0, unparsed * np.log(unparsed), 0.0)
    majority = np.maximum.reduceat(votes.shares, votes.start, axis=0) >= unparsed
    right = votes.shares[votes.start]
    suspected = several & majority & (right <= MAX_P + 1e-12) & (consistency >= MIN_S - 1e-12)
    n_models[votes.items] = np.where(several.any(axis=1), suspected.sum(axis=1), np.nan)
    return n_models


def cluster_name(beside: Beside, item: int) -> str | None:
    """What to call the cluster of a prompt; None for none."""
    number = int(beside.clusters[item])
    return None if number < 0 else beside.labels.get(number, SAME_TEXT)
