"""Votes of models for the options of a benchmark's prompts, from what the store holds of their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.keys import NO_KEY, Key, keys_of
from warehouse.analysis.audit.options import free_form
from warehouse.analysis.audit.stored_answers import (
    LikeliestOptions,
    TextAnswers,
    answer_counts,
    likeliest_options,
    read_choices,
    read_texts,
)
from warehouse.analysis.selection.scored_conditions import BenchmarkScores, ScoredCondition
from warehouse.analysis.selection.scores import Links, PromptScores, read_links, read_scores
from warehouse.errors import MisuseError
from warehouse.stats.labels.free_form import N_OPTIONS, free_form_options
from warehouse.stats.labels.votes import NO_OPTION_COUNT, NOT_ASKED, UNPARSED, Votes, votes_for_options
from warehouse.stats.labels.wrong_keys import FEWEST_MODELS
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Ints = NDArray[np.int64]

#: Models whose answers are read at most, the best by the metric; `select_models` chooses among them.
MOST_READ = 40


@dataclass(frozen=True)
class Voter:
    """A model whose answers count, by one of its conditions; whether answers were extracted from responses."""

    entry: ScoredCondition
    scores: PromptScores
    has_extracted: bool

    @property
    def model(self) -> str:
        """Its name."""
        return self.entry.condition.model


@dataclass(frozen=True)
class AuditData:
    """Prompts with their keys, and who votes for what.

    Attributes:
        prompts: rows of ``audit_prompts.sql``, by natural key.
        ids: their ids, shape (J,).
        keys: of each prompt.
        votes: of the models for the options; refused prompts included.
        reasons: why each prompt is refused, empty if it is not.
        draws: answers of each model to each prompt, shape (J, M).
        voters: the models, as columns of ``votes``.
        entries: all conditions that can stand side by side, with or without answers.
        answers: texts of the options of prompts with free-form answers, the key first; empty for others.
        notes: what a reader should know.
    """

    prompts: tuple[Mapping[str, Any], ...]
    ids: Ints
    keys: tuple[Key, ...]
    votes: Votes
    reasons: tuple[str, ...]
    draws: Ints
    voters: tuple[Voter, ...]
    entries: tuple[ScoredCondition, ...]
    answers: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def answer(self, item: int, option: int) -> str | None:
        """What an option of a prompt says; None for one that nobody gave."""
        options = self.keys[item].options
        if options is not None:
            return options.name(option)
        return self.answers[item][option] if 0 <= option < len(self.answers[item]) else None


def read_votes(store: Store, found: BenchmarkScores, n_options: int | None) -> AuditData:
    """The votes of the models of a benchmark.

    Args:
        found: its conditions with their scores.
        n_options: options of each prompt, where the store does not tell; None: unknown.

    Raises:
        MisuseError: fewer than three models with answers, no keys, or no answers.
    """
    name, links = found.benchmark.name, read_links(store)
    entries, notes = _one_group(store, found, links)
    chosen = _one_per_model(entries)
    if len(chosen) < len(entries):
        left_out = len(entries) - len(chosen)
        notes.append(
            f"a model has one vote: {left_out} more conditions of the same models are not heard (--where chooses)"
        )
    voters, unheard = _with_answers(store, chosen, found.metric.higher_is_better is not False)
    if len(voters) < FEWEST_MODELS:
        raise MisuseError(_too_few(name, [voter.model for voter in voters], unheard))
    if unheard:
        notes.append(f"{len(unheard)} models have scores but no stored answers: {_some(unheard)}")
    runs = {run: model for model, voter in enumerate(voters) for run in voter.entry.condition.run_ids}
    choices = read_choices(store, list(runs), links)
    prompts = _prompts(store, np.unique(np.concatenate([voter.scores.seen for voter in voters])))
    keys = keys_of(prompts, choices, n_options)
    _refuse_without_keys(name, keys)
    order = np.array([row["id"] for row in prompts], dtype=np.int64)
    option = {row["id"]: key.option for row, key in zip(prompts, keys, strict=True) if key.option is not None}
    likeliest = likeliest_options(choices, option, _right(voters, _best_value(found)))
    table = _Table(order, keys, len(voters))
    table.add_likeliest(likeliest, runs)
    for part in _texts(store, voters, set(likeliest.runs.tolist()), links):
        table.add_texts(part, runs, _best_value(found))
    votes = table.votes(name)
    reasons = tuple(key.reason or reason for key, reason in zip(keys, votes.reasons.tolist(), strict=True))
    notes += table.notes()
    return AuditData(
        prompts=tuple(prompts),
        ids=order,
        keys=tuple(keys),
        votes=votes,
        reasons=reasons,
        draws=table.draws,
        voters=tuple(voters),
        entries=tuple(entries),
        answers=table.answers,
        notes=tuple(notes),
    )


def _one_group(store: Store, found: BenchmarkScores, links: Links) -> tuple[list[ScoredCondition], list[str]]:
    """The largest group of conditions that can stand side by side, links followed, and a note on the others."""
    groups = [[entry for entry in members if entry.usable is not None] for members in found.groups().values()]
    ordered = sorted(groups, key=len, reverse=True) or [[]]
    entries, others = ordered[0], sum(map(len, ordered[1:]))
    if len(links[0]):
        runs = {run: place for place, entry in enumerate(entries) for run in entry.condition.run_ids}
        linked = read_scores(store, runs, sorted({entry.metric.id for entry in entries}), links=links)
        entries = [replace(entry, scores=linked[place]) for place, entry in enumerate(entries)]
    note = f"{others} models of another split, task version, metric or judge are left out (--where chooses)"
    return entries, [note] if others else []


def _one_per_model(entries: Sequence[ScoredCondition]) -> list[ScoredCondition]:
    """Of each model the condition that went furthest in training, and of those the newest; by name."""
    newest: dict[str, ScoredCondition] = {}
    for entry in sorted(entries, key=lambda one: (one.condition.setting("position") or 0, one.condition.newest)):
        newest[entry.condition.model] = entry
    return [newest[model] for model in sorted(newest)]


def _prompts(store: Store, ids: Ints) -> list[Mapping[str, Any]]:
    rows = store.rows(query_text("analysis", "audit_prompts"), {"prompt_ids": ids})
    return sorted(rows, key=lambda row: (str(row["split"]), str(row["key"]), row["occurrence"], row["id"]))


def _refuse_without_keys(name: str, keys: Sequence[Key]) -> None:
    if any(not key.reason for key in keys):
        return
    reasons = Counter(key.reason for key in keys)
    if reasons.get(NO_OPTION_COUNT):
        raise MisuseError(
            f"the targets of {name} are letters of options, but the store does not know how many options there are;"
            " say so with --options N"
        )
    if set(reasons) <= {NO_KEY}:
        raise MisuseError(
            f"no keys are stored for {name}: none of its {len(keys)} prompts has a target; ingest a dump or a mapping"
            " that has them"
        )
    counts = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
    raise MisuseError(f"no key of {name} can be judged: {counts}")


def _best_value(found: BenchmarkScores) -> float:
    """The score of a right answer."""
    low, high = found.metric.bounds or (None, None)
    best = low if found.metric.higher_is_better is False else high
    return 1.0 if best is None else float(best)


def _right(voters: Sequence[Voter], best: float) -> dict[tuple[int, int], bool]:
    """Whether run and prompt are right, where the score is that of one draw and all or nothing."""
    found: dict[tuple[int, int], bool] = {}
    for voter in voters:
        own = voter.scores
        prompts, right = own.prompts[own.zero_one].tolist(), (own.values[own.zero_one] == best).tolist()
        for run in voter.entry.condition.run_ids:
            found |= {(run, prompt): is_right for prompt, is_right in zip(prompts, right, strict=True)}
    return found


def _with_answers(store: Store, chosen: Sequence[ScoredCondition], higher: bool) -> tuple[list[Voter], list[str]]:
    """The models with the best scores of which answers are stored, by name, and those of which none are."""
    counts = answer_counts(store, [run for entry in chosen for run in entry.condition.run_ids])
    voters, unheard = [], []
    for entry in chosen:
        runs = entry.condition.runs
        texts = [counts.get(run["run_id"], (0, 0)) for run in runs]
        if entry.usable is not None and (any(run["n_choices"] for run in runs) or any(map(sum, texts))):
            voters.append(Voter(entry, entry.usable, any(extracted for extracted, _ in texts)))
        else:
            unheard.append(entry.condition.model)
    sign = -1 if higher else 1
    best = sorted(voters, key=lambda voter: (sign * float(voter.scores.values.mean()), voter.model))[:MOST_READ]
    return sorted(best, key=lambda voter: voter.model), unheard


def _too_few(name: str, models: Sequence[str], unheard: Sequence[str]) -> str:
    have = f" ({_some(models)})" if models else ""
    without = f"; {len(unheard)} have scores but no stored answers: {_some(unheard)}" if unheard else ""
    needed = f"suspected wrong keys need the answers of {FEWEST_MODELS} models"
    return f"{needed}; {name} has those of {len(models)}{have}{without}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")


def _texts(store: Store, voters: Sequence[Voter], likelihoods: set[int], links: Links) -> list[TextAnswers]:
    """Answers in words of the runs whose options have no likelihoods: extracted ones where there are any."""
    metrics = sorted({voter.entry.metric.id for voter in voters})
    parts = []
    for responses in (False, True):
        own = [voter.entry.condition.run_ids for voter in voters if voter.has_extracted is not responses]
        runs = [run for ids in own for run in ids if run not in likelihoods]
        if runs:
            parts.append(read_texts(store, runs, metrics, links, responses=responses))
    return parts


class _Table:
    """Answers as numbers of options, collected from several kinds of sources."""

    def __init__(self, order: Ints, keys: Sequence[Key], n_models: int) -> None:
        self.order, self.keys, self.n_models = order, keys, n_models
        self.place = {prompt: item for item, prompt in enumerate(order.tolist())}
        self.items: list[int] = []
        self.models: list[int] = []
        self.codes: list[int] = []
        self.free: dict[int, list[list[str | None]]] = {
            item: [[] for _ in range(n_models)] for item, key in enumerate(keys) if key.texts
        }
        self.shown: dict[int, dict[str, str]] = {item: {} for item in self.free}
        self.answers: tuple[tuple[str, ...], ...] = tuple(() for _ in keys)
        self.draws = np.zeros((len(keys), n_models), dtype=np.int64)
        self.n_texts = self.n_unparsed = 0

    def add_likeliest(self, found: LikeliestOptions, models: Mapping[int, int]) -> None:
        rows = zip(found.prompts.tolist(), found.runs.tolist(), found.option.tolist(), strict=True)
        for prompt, run, option in rows:
            item, model = self.place.get(prompt), models.get(run)
            if item is not None and model is not None and self.keys[item].option is not None:
                self._add(item, model, option)

    def add_texts(self, found: TextAnswers, models: Mapping[int, int], best: float) -> None:
        """A text names an option; else an answer that the metric calls right is the key."""
        right = (found.values == best).tolist()
        rows = zip(found.prompts.tolist(), found.runs.tolist(), found.texts, right, strict=True)
        for prompt, run, text, is_right in rows:
            item, model = self.place.get(prompt), models.get(run)
            if item is None or model is None or self.keys[item].reason:
                continue
            key = self.keys[item]
            self.n_texts += 1
            if key.options is None:
                self._add_free(item, model, text, is_right)
                continue
            option = key.options.place(text)
            if option is None:
                option = key.option if is_right and key.option is not None else UNPARSED
            self.n_unparsed += option == UNPARSED
            self._add(item, model, option)

    def _add(self, item: int, model: int, option: int) -> None:
        self.items.append(item)
        self.models.append(model)
        self.codes.append(option)

    def _add_free(self, item: int, model: int, text: str | None, is_right: bool) -> None:
        key, form = self.keys[item], free_form(text)
        if is_right or form in key.texts:
            form = key.texts[0]
        elif form is not None and text is not None:
            self.shown[item].setdefault(form, " ".join(text.split()))
        self.n_unparsed += form is None
        self.free[item][model].append(form)

    def votes(self, name: str) -> Votes:
        """The votes.

        Raises:
            MisuseError: no answer names an option.
        """
        widths = np.array([np.nan if key.options is None else key.options.n for key in self.keys])
        options = np.array([np.nan if key.option is None else key.option for key in self.keys], dtype=float)
        if self.n_texts and self.n_unparsed == self.n_texts and not set(self.codes) - {UNPARSED}:
            raise MisuseError(
                f"no answer of {name} names an option: its runs have responses, but no extracted answers; ingest a dump"
                " that has them"
            )
        codes = self._array()
        if self.free:
            own = sorted(self.free)
            found = free_form_options([self.free[item] for item in own], [self.keys[item].texts[0] for item in own])
            codes = _widened(codes, found.answers.shape[2])
            codes[own, :, : found.answers.shape[2]] = found.answers
            widths[own], options[own] = N_OPTIONS, found.keys
            answers = list(self.answers)
            for item, texts in zip(own, found.texts, strict=True):
                answers[item] = tuple(self.shown[item].get(text, text) for text in texts)
            self.answers = tuple(answers)
        self.draws = (codes != NOT_ASKED).sum(axis=2)
        return votes_for_options(codes, options, widths)

    def notes(self) -> list[str]:
        share = self.n_unparsed / self.n_texts if self.n_texts else 0
        return [f"{100 * share:.0f} % of answers name no option: they count as wrong"] if share > 0.05 else []

    def _array(self) -> Ints:
        """Answers by prompt, model and draw."""
        items, models = np.array(self.items, dtype=np.int64), np.array(self.models, dtype=np.int64)
        cells = items * self.n_models + models
        order = np.argsort(cells, kind="stable")
        ordered = cells[order]
        firsts = np.searchsorted(ordered, ordered)
        draws = np.arange(len(ordered)) - firsts
        most = int(draws.max(initial=0)) + 1
        codes = np.full((len(self.keys) * self.n_models, most), NOT_ASKED, dtype=np.int64)
        codes[ordered, draws] = np.array(self.codes, dtype=np.int64)[order]
        return codes.reshape(len(self.keys), self.n_models, most)


def _widened(codes: Ints, draws: int) -> Ints:
    lacking = draws - codes.shape[2]
    return np.pad(codes, ((0, 0), (0, 0), (0, lacking)), constant_values=NOT_ASKED) if lacking > 0 else codes
