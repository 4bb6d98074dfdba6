"""Stored answers of models as votes for the options of a benchmark's prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.keys import Key, LikeliestOptions, TextAnswers, free_form
from warehouse.analysis.audit.read import StoredAnswers, Voter, best_value
from warehouse.analysis.datamap.question import MapPrompts
from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.clusterings import SAME_TEXT, ClusterMap
from warehouse.analysis.selection.score_matrix import score_table
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.errors import MisuseError
from warehouse.stats import near_pairs
from warehouse.stats.items.discrimination import (
    UNIDENTIFIED,
    discrimination,
    power_of_flags,
)
from warehouse.stats.labels.votes import (
    N_OPTIONS,
    NOT_ASKED,
    UNPARSED,
    Votes,
    free_form_options,
    votes_for_options,
)

Ints = NDArray[np.int64]
#: Free-form keys from which on it is no coincidence that they have but two forms.
_ENOUGH_KEYS = 20
#: What two options mean for the list.
TWO_OPTIONS = "where a prompt misleads most models it looks like a wrong key"


@dataclass(frozen=True)
class AuditData:
    """Prompts with their keys, and who votes for what."""

    #: rows of ``audit_prompts.sql``, by natural key.
    prompts: tuple[Mapping[str, Any], ...]
    ids: Ints  #: their ids, shape (J,).
    keys: tuple[Key, ...]  #: of each prompt.
    votes: Votes  #: of the models for the options; refused prompts included.
    reasons: tuple[str, ...]  #: why each prompt is refused, empty if it is not.
    draws: Ints  #: answers of each model to each prompt, shape (J, M).
    voters: tuple[Voter, ...]  #: the models, as columns of ``votes``.
    #: all conditions that can stand side by side, with or without answers.
    entries: tuple[ScoredCondition, ...]
    #: texts of the options of prompts with free-form answers, the key first; empty for
    #: others.
    answers: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]  #: what a reader should know.

    def answer(self, item: int, option: int) -> str | None:
        """The text of an option of a prompt; None for one that nobody gave."""
        options = self.keys[item].options
        if options is not None:
            return options.name(option)
        if 0 <= option < len(self.answers[item]):
            return self.answers[item][option]
        return None

    def recorded(self, item: int) -> str | None:
        """The recorded key of a prompt."""
        key = self.keys[item]
        target = self.prompts[item]["target"]
        named = None
        if key.option is not None or key.texts:
            named = self.answer(item, key.option or 0)
        return named if named is not None else target


def votes_of(stored: StoredAnswers) -> AuditData:
    """The votes of the models of a benchmark (MisuseError: no answer names an option)."""
    voters, keys = stored.voters, stored.keys
    runs = {}
    for model, voter in enumerate(voters):
        for run in voter.entry.condition.run_ids:
            runs[run] = model
    order = np.array([row["id"] for row in stored.prompts], dtype=np.int64)
    table = _VoteTable(order, keys, len(voters))
    table.add_likeliest(stored.likeliest, runs)
    for part in stored.texts:
        table.add_texts(part, runs, best_value(stored.scores))
    votes = table.votes(stored.scores.benchmark.name)
    return AuditData(
        prompts=stored.prompts,
        ids=order,
        keys=keys,
        votes=votes,
        reasons=tuple(
            key.reason or reason
            for key, reason in zip(keys, votes.reasons.tolist(), strict=True)
        ),
        draws=table.draws,
        voters=voters,
        entries=stored.entries,
        answers=table.answers,
        notes=(*stored.notes, *table.notes()),
    )


class _VoteTable:
    """Answers as numbers of options, collected from several kinds of sources."""

    def __init__(self, order: Ints, keys: Sequence[Key], n_models: int) -> None:
        self.order = order
        self.keys = keys
        self.n_models = n_models
        self.item_of = {prompt: item for item, prompt in enumerate(order.tolist())}
        self.items: list[int] = []
        self.models: list[int] = []
        self.codes: list[int] = []
        self.free: dict[int, list[list[str | None]]] = {}
        for item, key in enumerate(keys):
            if key.texts:
                self.free[item] = [[] for _ in range(n_models)]
        self.shown: dict[int, dict[str, str]] = {item: {} for item in self.free}
        self.answers: tuple[tuple[str, ...], ...] = tuple(() for _ in keys)
        self.draws = np.zeros((len(keys), n_models), dtype=np.int64)
        self.n_texts = self.n_unparsed = self.n_two = 0

    def add_likeliest(
        self, likeliest: LikeliestOptions, models: Mapping[int, int]
    ) -> None:
        rows = zip(
            likeliest.prompts.tolist(),
            likeliest.runs.tolist(),
            likeliest.option.tolist(),
            strict=True,
        )
        for prompt, run, option in rows:
            item = self.item_of.get(prompt)
            model = models.get(run)
            if (
                item is not None
                and model is not None
                and self.keys[item].option is not None
            ):
                self._add(item, model, option)

    def add_texts(
        self, answers: TextAnswers, models: Mapping[int, int], best: float
    ) -> None:
        """A text names an option; else an answer that the metric calls right is the
        key."""
        right = (answers.values == best).tolist()
        rows = zip(
            answers.prompts.tolist(),
            answers.runs.tolist(),
            answers.texts,
            right,
            strict=True,
        )
        for prompt, run, text, is_right in rows:
            item = self.item_of.get(prompt)
            model = models.get(run)
            if item is None or model is None or self.keys[item].reason:
                continue
            key = self.keys[item]
            self.n_texts += 1
            if key.options is None:
                self._add_free(item, model, text, is_right)
                continue
            option = key.options.index_of(text)
            if option is None:
                option = UNPARSED
                if is_right and key.option is not None:
                    option = key.option
            self.n_unparsed += option == UNPARSED
            self._add(item, model, option)

    def _add(self, item: int, model: int, option: int) -> None:
        self.items.append(item)
        self.models.append(model)
        self.codes.append(option)

    def _add_free(
        self, item: int, model: int, text: str | None, is_right: bool
    ) -> None:
        key = self.keys[item]
        form = free_form(text)
        if is_right or form in key.texts:
            form = key.texts[0]
        elif form is not None and text is not None:
            self.shown[item].setdefault(form, " ".join(text.split()))
        self.n_unparsed += form is None
        self.free[item][model].append(form)

    def votes(self, name: str) -> Votes:
        """The votes (MisuseError: no answer names an option)."""
        widths = np.array(
            [np.nan if key.options is None else key.options.n for key in self.keys]
        )
        options = np.array(
            [np.nan if key.option is None else key.option for key in self.keys],
            dtype=float,
        )
        if (
            self.n_texts
            and self.n_unparsed == self.n_texts
            and not set(self.codes) - {UNPARSED}
        ):
            raise MisuseError(
                f"no answer of {name} names an option: its runs have responses, but no "
                "extracted answers; ingest a dump that has them"
            )
        codes = self._array()
        if self.free:
            own = sorted(self.free)
            keys = [self.keys[item].texts[0] for item in own]
            n_options = self._two_forms(own, keys)
            free_options = free_form_options(
                [self.free[item] for item in own], keys, n_options=n_options
            )
            codes = _widened(codes, free_options.answers.shape[2])
            codes[own, :, : free_options.answers.shape[2]] = free_options.answers
            widths[own], options[own] = n_options, free_options.keys
            answers = list(self.answers)
            for item, texts in zip(own, free_options.texts, strict=True):
                answers[item] = tuple(
                    self.shown[item].get(text, text) for text in texts
                )
            self.answers = tuple(answers)
        self.draws = (codes != NOT_ASKED).sum(axis=2)
        return votes_for_options(codes, options, widths)

    def _two_forms(self, own: Sequence[int], keys: Sequence[str]) -> int:
        """The options of free-form answers: two where all keys are one of two forms
        (yes and no), or many.

        With twelve, models that agree on the other of two answers would seem to agree
        against all odds.
        """
        forms = set(keys)
        if len(forms) != 2 or len(keys) < _ENOUGH_KEYS:
            return N_OPTIONS
        for item in own:
            by_model = self.free[item]
            for model, draws in enumerate(by_model):
                by_model[model] = [text if text in forms else None for text in draws]
        self.n_two += len(own)
        return 2

    def notes(self) -> list[str]:
        if self.n_texts:
            share = self.n_unparsed / self.n_texts
        else:
            share = 0
        notes = []
        if share > 0.05:
            notes = [
                f"{100 * share:.0f} % of answers name no option: they count as wrong"
            ]
        two = self.n_two + sum(
            key.options is not None and key.options.n == 2 for key in self.keys
        )
        if two > 0.05 * len(self.keys):
            return [*notes, f"{two} prompts have two options: {TWO_OPTIONS}"]
        return notes

    def _array(self) -> Ints:
        """Answers by prompt, model and draw."""
        items = np.array(self.items, dtype=np.int64)
        models = np.array(self.models, dtype=np.int64)
        cells = items * self.n_models + models
        order = np.argsort(cells, kind="stable")
        ordered = cells[order]
        firsts = np.searchsorted(ordered, ordered)
        draws = np.arange(len(ordered)) - firsts
        most = int(draws.max(initial=0)) + 1
        codes = np.full(
            (len(self.keys) * self.n_models, most), NOT_ASKED, dtype=np.int64
        )
        codes[ordered, draws] = np.array(self.codes, dtype=np.int64)[order]
        return codes.reshape(len(self.keys), self.n_models, most)


def _widened(codes: Ints, draws: int) -> Ints:
    lacking = draws - codes.shape[2]
    if lacking > 0:
        return np.pad(codes, ((0, 0), (0, 0), (0, lacking)), constant_values=NOT_ASKED)
    return codes


#: Cosine similarity from which on two prompts ask nearly the same.
NEAR = 0.95
#: Near pairs that are looked at, the most similar ones.
KEEP = 20_000
#: Prompts of one text from which on it is an instruction that they share, and no
#: question asked twice.
INSTRUCTION = 50


@dataclass(frozen=True)
class Evidence:
    """Evidence on each prompt, in the order of the data."""

    #: place of a prompt that asks the same and has another key; −1 for none, shape
    #: (J,).
    contradicts: NDArray[np.int64]
    negative: NDArray[np.float64]  #: 1, 0, NaN if unknown, shape (J,).
    constant: NDArray[np.float64]  #: 1, 0, NaN if unknown, shape (J,).
    #: NaN where no model answered it more than once, shape (J,).
    datamap_models: NDArray[np.float64]
    clusters: NDArray[np.int64]  #: number of its cluster; −1 without, shape (J,).
    labels: Mapping[int, str]  #: name of each cluster by number.
    notes: tuple[str, ...]  #: where figures come from.


def find_evidence(stored: StoredAnswers, data: AuditData) -> Evidence:
    """Evidence on the prompts other than the votes; clusters are those of the error
    bars."""
    clusters = stored.scores.clusters
    negative, constant, flagged = _as_items(data, clusters)
    labels = clusters.labels(data.ids)
    if labels is None:
        members = np.full(len(data.ids), -1, dtype=np.int64)
    else:
        members = np.maximum(labels, -1)
    near, notes = _near_pairs(stored, data)
    return Evidence(
        contradicts=_contradictions(data, [*_same_text(data), *near]),
        negative=negative,
        constant=constant,
        datamap_models=_datamap_models(data.votes, data.draws),
        clusters=members,
        labels=stored.labels,
        notes=(*notes, *flagged),
    )


def _as_items(
    data: AuditData, clusters: ClusterMap
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Significantly negative and constant prompts, over all models, NaN where fewer
    than two scored one; and a note."""
    table = score_table(data.entries, clusters)
    negative, constant = np.full((2, len(data.ids)), np.nan)
    if min(table.values.shape) < 2:
        return negative, constant, ()
    higher = data.entries[0].metric.higher_is_better is not False
    if higher:
        signed = table.values
    else:
        signed = -table.values
    found = discrimination(signed.T)
    row_of = {prompt: row for row, prompt in enumerate(table.prompts.tolist())}
    rows = np.array(
        [row_of.get(prompt, -1) for prompt in data.ids.tolist()], dtype=np.intp
    )
    usable = rows >= 0
    usable[usable] = found.n_models[rows[usable]] >= 2
    negative[usable], constant[usable] = (
        found.is_negative[rows[usable]],
        found.is_constant[rows[usable]],
    )
    power = power_of_flags(int(np.median(found.n_models)))
    note = (
        f"{int(found.is_negative.sum())} prompts go against the rest ({power}: "
        "unflagged is not cleared)"
    )
    if found.is_negative.any():
        notes = (f"{note}. {UNIDENTIFIED}",)
    else:
        notes = (note,)
    return (
        negative,
        constant,
        notes,
    )


def _same_text(data: AuditData) -> Iterable[tuple[int, int]]:
    texts = [row["text_hash"] for row in data.prompts]
    groups = grouped(
        (item for item, text in enumerate(texts) if text is not None), texts.__getitem__
    )
    repeated = (members for members in groups.values() if len(members) < INSTRUCTION)
    for members in repeated:
        for a in members:
            for b in members:
                if a < b:
                    yield a, b


def _near_pairs(
    stored: StoredAnswers, data: AuditData
) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    """Pairs of prompts whose stored vectors are nearly alike, and a note on where these
    come from."""
    if stored.near is None:
        return [], ()
    vectors, embedder = stored.near
    item_of = {prompt: item for item, prompt in enumerate(data.ids.tolist())}
    own = [
        row for row, prompt in enumerate(vectors.prompts.tolist()) if prompt in item_of
    ]
    if len(own) < 2:
        return [], ()
    near = near_pairs(vectors.vectors[own], NEAR, keep=KEEP)
    items = [item_of[prompt] for prompt in vectors.prompts[own].tolist()]
    pairs = [
        (items[a], items[b])
        for a, b in zip(near.first.tolist(), near.second.tolist(), strict=True)
    ]
    return pairs, (f"near-duplicates: questions at least {NEAR:g} alike by {embedder}",)


def _contradictions(
    data: AuditData, pairs: Iterable[tuple[int, int]]
) -> NDArray[np.int64]:
    contradicts = np.full(len(data.ids), -1, dtype=np.int64)
    for a, b in pairs:
        if _differ(data.keys[a], data.keys[b]):
            for item, other in ((a, b), (b, a)):
                if contradicts[item] < 0:
                    contradicts[item] = other
    return contradicts


def _differ(a: Key, b: Key) -> bool:
    """True if two keys cannot both be right, if the questions are the same: each is an
    option of the other."""
    if a.reason or b.reason:
        return False
    if a.options is None or b.options is None:
        return a.options is b.options and not set(a.texts) & set(b.texts)
    if (
        a.option is None
        or b.option is None
        or not a.options.texts
        or not b.options.texts
    ):
        return False
    of_a = a.options.texts[a.option]
    of_b = b.options.texts[b.option]
    there = b.options.index_of_text(of_a)
    here = a.options.index_of_text(of_b)
    return there is not None and here is not None and there != b.option


def _datamap_models(votes: Votes, draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Models that answer a prompt wrongly and always alike, as the data map has it (P ≤
    .1, S ≥ −.8)."""
    several = draws[votes.items] > 1
    n_models = np.full(votes.n_items, np.nan)
    if not several.any():
        return n_models
    shares = votes.shares * votes.copies[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = (
            np.where(votes.shares > 0, votes.shares * np.log(votes.shares), 0.0)
            * votes.copies[:, None]
        )
        unparsed = np.clip(votes.answered_by - votes.totals(shares), 0.0, 1.0)
        consistency = votes.totals(entropy) + np.where(
            unparsed > 0, unparsed * np.log(unparsed), 0.0
        )
    majority = np.maximum.reduceat(votes.shares, votes.start, axis=0) >= unparsed
    right = votes.shares[votes.start]
    suspected = (
        several
        & majority
        & (right <= MapPrompts.max_p + 1e-12)
        & (consistency >= MapPrompts.min_s - 1e-12)
    )
    n_models[votes.items] = np.where(several.any(axis=1), suspected.sum(axis=1), np.nan)
    return n_models


def cluster_name(evidence: Evidence, item: int) -> str | None:
    """The name of the cluster of a prompt; None for none."""
    number = int(evidence.clusters[item])
    if number < 0:
        return None
    return evidence.labels.get(number, SAME_TEXT)
