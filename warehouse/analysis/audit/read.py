"""The data of an audit, read at once: who is heard, what they answered, and what else
is known of the prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.keys import (
    LONGEST,
    NO_KEY,
    ChoiceRows,
    Key,
    LikeliestOptions,
    TextAnswers,
    keys_of,
    likeliest_options,
)
from warehouse.analysis.selection.prompt_links import Links, follow_links, read_links
from warehouse.analysis.selection.prompts import natural_key
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.text.embed import choose_embedder
from warehouse.errors import MisuseError
from warehouse.stats.labels.votes import NO_OPTION_COUNT
from warehouse.stats.labels.wrong_keys import FEWEST_MODELS
from warehouse.store.computed.prompt_vectors import PromptVectors, read_vectors
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Ints = NDArray[np.int64]

#: Models whose answers are read at most, the best by the metric; `select_models`
#: chooses among them.
MOST_READ = 40
#: Runs of a benchmark, for each whose answers are needed, up to which all are read for
#: a block of benchmarks at once.
MOST_FOR_ONE = 4

_RESPONSE = f"substring(content.text, 1, {LONGEST + 1})"  # longer ones are no answer
_RESPONSES = "left join content on content.sha256 = fact.response_hash"


@dataclass(frozen=True)
class Voter:
    """A model whose answers count, by one of its conditions; whether answers were
    extracted from responses."""

    entry: ScoredCondition
    scores: PromptScores
    has_extracted: bool

    @property
    def model(self) -> str:
        """Its name."""
        return self.entry.condition.model


@dataclass(frozen=True)
class StoredAnswers:
    """All that an audit rests on."""

    scores: BenchmarkScores  #: of the benchmark.
    #: all conditions that can stand side by side, with or without answers.
    entries: tuple[ScoredCondition, ...]
    voters: tuple[Voter, ...]  #: the models whose answers are heard, by name.
    #: rows of ``audit_prompts.sql``, by natural key.
    prompts: tuple[Mapping[str, Any], ...]
    keys: tuple[Key, ...]  #: of each prompt.
    likeliest: LikeliestOptions  #: the options that runs find likeliest.
    texts: tuple[TextAnswers, ...]  #: answers in words of the other runs.
    #: stored vectors of the prompts, with what to call their embedder; None where it is
    #: not clear which.
    near: tuple[PromptVectors, str] | None
    labels: Mapping[int, str]  #: name of each stored cluster by number.
    notes: tuple[str, ...]  #: what a reader should know.


def read_answers(
    store: Store, scores: BenchmarkScores, n_options: int | None = None
) -> StoredAnswers:
    """The answers of the models of a benchmark, and what else speaks against its keys.

    Args:
        scores: its conditions with their scores.
        n_options: options of each prompt, where the store does not tell; None: unknown.

    Raises:
        MisuseError: fewer than three models with answers, or no keys.
    """
    name, links = scores.benchmark.name, read_links(store)
    members, notes = scores.largest_group()
    entries = _linked(store, members, links)
    chosen = _one_per_model(entries)
    if len(chosen) < len(entries):
        left_out = len(entries) - len(chosen)
        notes.append(
            f"a model has one vote: {left_out} more conditions of the same models are "
            "not heard (--where chooses)"
        )
    voters, unheard = _with_answers(
        store, chosen, scores.metric.higher_is_better is not False
    )
    if len(voters) < FEWEST_MODELS:
        raise MisuseError(_too_few(name, [voter.model for voter in voters], unheard))
    if unheard:
        notes.append(
            f"{len(unheard)} models have scores but no stored answers: {_some(unheard)}"
        )
    choices = read_choices(
        store,
        list(chain.from_iterable(voter.entry.condition.run_ids for voter in voters)),
        links,
    )
    prompts = _prompts(
        store, np.unique(np.concatenate([voter.scores.seen for voter in voters]))
    )
    keys = keys_of(prompts, choices, n_options)
    _refuse_without_keys(name, keys)
    option = {
        row["id"]: key.option
        for row, key in zip(prompts, keys, strict=True)
        if key.option is not None
    }
    right = _right(voters, best_value(scores)) if len(choices.runs) else {}
    likeliest = likeliest_options(choices, option, right)
    clusters = store.rows(
        query_text("analysis", "clusters"),
        {"benchmark_ids": scores.benchmark.ids},
        per="benchmark_id",
    )
    return StoredAnswers(
        scores=scores,
        entries=tuple(entries),
        voters=tuple(voters),
        prompts=tuple(prompts),
        keys=tuple(keys),
        likeliest=likeliest,
        texts=tuple(
            _texts(store, voters, set(likeliest.runs.tolist()), links, len(scores.runs))
        ),
        near=_vectors(store, scores.benchmark.ids),
        labels={row["id"]: str(row["label"]) for row in clusters},
        notes=tuple(notes),
    )


def _vectors(
    store: Store, benchmark_ids: Sequence[int]
) -> tuple[PromptVectors, str] | None:
    try:
        chosen = choose_embedder(store, None)
    except MisuseError:  # no vectors, or those of several models
        return None
    return read_vectors(store, chosen, list(benchmark_ids)), chosen.label


def _linked(
    store: Store, entries: Sequence[ScoredCondition], links: Links
) -> list[ScoredCondition]:
    """Entries with their scores under the prompts that links lead to."""
    if not len(links[0]):
        return list(entries)
    runs = {}
    for index, entry in enumerate(entries):
        for run in entry.condition.run_ids:
            runs[run] = index
    linked = read_scores(
        store, runs, sorted({entry.metric.id for entry in entries}), links=links
    )
    return [replace(entry, scores=linked[index]) for index, entry in enumerate(entries)]


def _one_per_model(entries: Sequence[ScoredCondition]) -> list[ScoredCondition]:
    """The condition of each model that went furthest in training, and of those the
    newest; by name."""
    newest: dict[str, ScoredCondition] = {}
    for entry in sorted(
        entries,
        key=lambda item: (
            item.condition.setting("position") or 0,
            item.condition.newest,
        ),
    ):
        newest[entry.condition.model] = entry
    return [newest[model] for model in sorted(newest)]


def _prompts(store: Store, ids: Ints) -> list[Mapping[str, Any]]:
    return sorted(
        store.rows(query_text("analysis/audit", "audit_prompts"), {"prompt_ids": ids}),
        key=natural_key,
    )


def _refuse_without_keys(name: str, keys: Sequence[Key]) -> None:
    if any(not key.reason for key in keys):
        return
    reasons = Counter(key.reason for key in keys)
    if reasons.get(NO_OPTION_COUNT):
        raise MisuseError(
            f"the targets of {name} are letters of options, but the store does not "
            "know how many options there are; say so with --options N"
        )
    if set(reasons) <= {NO_KEY}:
        raise MisuseError(
            f"no keys are stored for {name}: none of its {len(keys)} prompts has a "
            "target; ingest a dump or a mapping that has them"
        )
    counts = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
    raise MisuseError(f"no key of {name} can be judged: {counts}")


def best_value(scores: BenchmarkScores) -> float:
    """The score of a right answer."""
    low, high = scores.metric.bounds or (None, None)
    best = high
    if scores.metric.higher_is_better is False:
        best = low
    if best is None:
        return 1.0
    return float(best)


def _right(voters: Sequence[Voter], best: float) -> dict[tuple[int, int], bool]:
    """Right answers, by run and prompt, where the score is that of one draw and all or
    nothing."""
    by_run_and_prompt: dict[tuple[int, int], bool] = {}
    for voter in voters:
        own = voter.scores
        prompts = own.prompts[own.zero_one].tolist()
        right = (own.values[own.zero_one] == best).tolist()
        for run in voter.entry.condition.run_ids:
            by_run_and_prompt |= {
                (run, prompt): is_right
                for prompt, is_right in zip(prompts, right, strict=True)
            }
    return by_run_and_prompt


def _with_answers(
    store: Store, chosen: Sequence[ScoredCondition], higher: bool
) -> tuple[list[Voter], list[str]]:
    """The models with the best scores of which answers are stored, by name, and those
    of which none are."""
    counts = answer_counts(
        store, list(chain.from_iterable(entry.condition.run_ids for entry in chosen))
    )
    voters, unheard = [], []
    for entry in chosen:
        runs = entry.condition.runs
        texts = [counts.get(run["run_id"], (0, 0)) for run in runs]
        if entry.usable is not None and (
            any(run["n_choices"] for run in runs) or any(map(sum, texts))
        ):
            voters.append(
                Voter(entry, entry.usable, any(extracted for extracted, _ in texts))
            )
        else:
            unheard.append(entry.condition.model)
    sign = 1
    if higher:
        sign = -1
    best = sorted(
        voters,
        key=lambda voter: (sign * float(voter.scores.values.mean()), voter.model),
    )[:MOST_READ]
    return sorted(best, key=lambda voter: voter.model), unheard


def _too_few(name: str, models: Sequence[str], unheard: Sequence[str]) -> str:
    have = ""
    if models:
        have = f" ({_some(models)})"
    without = ""
    if unheard:
        without = (
            f"; {len(unheard)} have scores but no stored answers: {_some(unheard)}"
        )
    needed = f"suspected wrong keys need the answers of {FEWEST_MODELS} models"
    return f"{needed}; {name} has those of {len(models)}{have}{without}"


def _some(names: Sequence[str]) -> str:
    more = ""
    if len(names) > 4:
        more = " ..."
    return ", ".join(names[:4]) + more


def _texts(
    store: Store,
    voters: Sequence[Voter],
    likelihoods: set[int],
    links: Links,
    n_runs: int,
) -> list[TextAnswers]:
    """Answers in words of the runs whose options have no likelihoods: extracted ones
    where there are any.

    Where reads are shared, those of all ``n_runs`` runs, and of other benchmarks, are
    read with them if they are few.
    """
    metrics = sorted({voter.entry.metric.id for voter in voters})
    parts = []
    for responses in (False, True):
        own = [
            voter.entry.condition.run_ids
            for voter in voters
            if voter.has_extracted is not responses
        ]
        runs = []
        for ids in own:
            for run in ids:
                if run not in likelihoods:
                    runs.append(run)
        if runs:
            per = ""
            if n_runs <= MOST_FOR_ONE * len(runs):
                per = "run_id"
            parts.append(
                read_texts(store, runs, metrics, links, per, responses=responses)
            )
    return parts


def answer_counts(store: Store, runs: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Generations of each run: how many have an extracted answer, and a stored
    response."""
    rows = store.rows(
        query_text("analysis/audit", "audit_stored"), {"run_ids": runs}, per="run_id"
    )
    return {row["run_id"]: (row["n_answers"], row["n_responses"]) for row in rows}


def read_texts(
    store: Store,
    runs: Sequence[int],
    metric_ids: Sequence[int],
    links: Links,
    per: str,
    *,
    responses: bool,
) -> TextAnswers:
    """Answers in words of some runs.

    Args:
        metric_ids: whose scores come beside the answers.
        links: prompts under the canonical ones.
        per: column of ids for which reads are shared; empty where they are not.
        responses: the beginnings of responses, in place of extracted answers.
    """
    column = "fact.extracted_answer"
    join = ""
    if responses:
        column = _RESPONSE
        join = _RESPONSES
    query = query_text("analysis/audit", "audit_answers").format(
        column=column,
        join=join,
    )
    parameters = {
        "run_ids": runs,
        "first_run_id": min(runs),
        "last_run_id": max(runs),
        "metric_ids": metric_ids,
    }
    table = store.columns(query, parameters, per=per)
    prompts = follow_links(table.whole_numbers("prompt_id"), links)
    return TextAnswers(
        prompts,
        table.whole_numbers("run_id"),
        table.objects("answer"),
        table.numbers("value"),
    )


def read_choices(store: Store, runs: Sequence[int], links: Links) -> ChoiceRows:
    """The options that some runs scored."""
    table = store.columns(
        query_text("analysis/audit", "audit_choices"), {"run_ids": runs}, per="run_id"
    )
    own = [
        table.whole_numbers(name)
        for name in ("run_id", "prompt_id", "variant_id", "draw")
    ]
    changes = np.zeros(len(own[0]), dtype=bool)
    for column in own:
        changes |= np.diff(column, prepend=-1) != 0
    return ChoiceRows(
        prompts=follow_links(own[1], links),
        runs=own[0],
        draw=np.cumsum(changes) - 1,
        option=table.whole_numbers("choice_index"),
        loglikelihood=table.numbers("loglikelihood"),
        unconditional=table.numbers("unconditional_loglikelihood"),
        n_tokens=table.numbers("n_tokens"),
        n_bytes=table.numbers("n_bytes"),
        is_target=table.numbers("is_target"),
    )
