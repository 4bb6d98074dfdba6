"""How long tasks are that models do: success against human minutes, over the benchmarks
of a suite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.horizon.question import TimeHorizon
from warehouse.analysis.horizon.view import HorizonReport, HorizonRow
from warehouse.analysis.irt.published_figures import release_days
from warehouse.analysis.selection.scores import right_draws
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.entries import (
    ConditionSet,
    LeafEntries,
    describe_sets,
    match_conditions,
    read_leaves,
)
from warehouse.analysis.suites.tree import benchmarks_named
from warehouse.analysis.text.parts import document_of, prompt_rows
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import (
    Horizon,
    HorizonFit,
    HorizonTrend,
    horizon_trend,
    time_horizons,
)
from warehouse.stats.items.horizon import NOTHING_SOLVED
from warehouse.store.connection import Store

MINUTES, FAMILY = "human_minutes", "task_family"


@dataclass(frozen=True)
class _Tasks:
    """Prompts that say how long people need."""

    prompts: NDArray[np.int64]  #: ids, ascending.
    minutes: NDArray[np.float64]
    #: name of the family of each; a task that names none is one of its own.
    families: NDArray[np.str_]
    without_family: int  #: how many name none.


@dataclass(frozen=True)
class _Agent:
    """A model's runs on tasks, in the order of the tasks."""

    members: ConditionSet
    solved: NDArray[np.float64]
    runs: NDArray[np.float64]
    n_unscored: int
    n_without_minutes: int


@answers(TimeHorizon)
def horizon(store: Store, question: TimeHorizon) -> HorizonReport:
    """A curve for each model on all benchmarks that are meant, and where it passes each
    probability."""
    leaves, left_out = read_leaves(
        store, benchmarks_named(store, [question.benchmark]), selection_of(question)
    )
    chosen = {leaf.benchmark.name: leaf.entries for leaf in leaves}
    sets = match_conditions(chosen, latest=question.latest)
    # whichever was loaded first
    sets.sort(key=lambda entry: (entry.model, str(entry.settings), _run_ids(entry)))
    tasks = _read_tasks(store, leaves, question.benchmark)
    found = [_agent(entry, tasks) for entry in sets]
    left_out += [
        f"{entry.model}: {why}"
        for entry, why in zip(sets, found, strict=True)
        if isinstance(why, str)
    ]
    agents = [agent for agent in found if isinstance(agent, _Agent)]
    if not agents:
        all_others = chain.from_iterable(leaf.others for leaf in leaves)
        others = sorted({other.metric for other in all_others})
        there_are = f"; other metrics: {', '.join(others)} (--metric)" if others else ""
        raise MisuseError("; ".join(left_out[:3]) + there_are)
    fits = time_horizons(
        tasks.minutes,
        tasks.families,
        [agent.solved for agent in agents],
        [agent.runs for agent in agents],
        q=tuple(dict.fromkeys((*question.q, 0.5, 0.8))),
        penalty=question.penalty,
        weights=question.weights,
        interval=question.interval,
        resample=question.trend,
        level=question.level,
        n_resamples=question.n_resamples,
        seed=question.seed,
    )
    days = _days(store, agents)
    labels = describe_sets([agent.members for agent in agents])
    by_length = sorted(
        range(len(fits)), key=lambda row: -(fits[row].horizons[0].estimate or -1)
    )
    rows = []
    for at in by_length:
        for number in range(len(question.q)):
            rows.append(
                _row(
                    question,
                    agents[at],
                    fits[at],
                    fits[at].horizons[number],
                    labels[at],
                    days[at],
                    len(tasks.prompts),
                )
            )
    return HorizonReport(
        benchmark=question.benchmark,
        rows=tuple(rows),
        trends=tuple(_trends(question, fits, days)) if question.trend else (),
        n_tasks=len(tasks.prompts),
        notes=tuple(_notes(tasks, agents)),
        left_out=tuple(left_out),
    )


def _read_tasks(store: Store, leaves: Sequence[LeafEntries], name: str) -> _Tasks:
    """The prompts with scores that have minutes (MisuseError: there are none)."""
    seen = []
    for leaf in leaves:
        for entry in leaf.entries:
            if entry.scores is not None:
                seen.append(entry.scores.prompts)
    if not seen:
        raise MisuseError(
            f"{name} has no scores of prompts; a horizon needs those of single tasks"
        )
    prompts = np.unique(np.concatenate(seen))
    documents = {
        row["id"]: document_of(row)
        for row in prompt_rows(
            store,
            f"metadata.{MINUTES}",
            "prompt.id in (:ids)",
            {"ids": prompts.tolist()},
        )
    }
    minutes = np.array(
        [_minutes(documents.get(int(prompt), {}).get(MINUTES)) for prompt in prompts]
    )
    finite = np.isfinite(minutes)
    if not finite.any():
        raise MisuseError(
            f"no task of {name} says in its metadata how many minutes people need for "
            f"it ({MINUTES}); a mapping can: [metadata] {MINUTES} = the column"
        )
    families_stored = [
        documents.get(int(prompt), {}).get(FAMILY) for prompt in prompts[finite]
    ]
    families = [
        f"\0{index}" if family in (None, "") else str(family)
        for index, family in enumerate(families_stored)
    ]
    without = sum(family in (None, "") for family in families_stored)
    return _Tasks(prompts[finite], minutes[finite], np.array(families), without)


def _minutes(value: Any) -> float:
    """A number above 0, also as text; NaN for anything else."""
    try:
        if isinstance(value, bool):
            number = math.nan
        else:
            number = float(value)
    except (TypeError, ValueError):
        return math.nan
    if 0 < number < math.inf:
        return number
    return math.nan


def _agent(members: ConditionSet, tasks: _Tasks) -> _Agent | str:
    """A model with its successes; or why its scores are not of success."""
    solved = np.zeros(len(tasks.prompts))
    runs = np.zeros(len(tasks.prompts))
    n_unscored = n_without = 0
    for entry in members.entries.values():
        if entry.scores is None or not entry.scores.n:
            continue
        right, why = right_draws(entry.scores, entry.metric)
        if entry.metric.higher_is_better is False:
            why = f"lower {entry.metric.label} is better, which is no success"
        if why:
            return f"{why}, by {entry.metric.label}"
        rows = np.searchsorted(tasks.prompts, entry.scores.prompts)
        here = np.isin(entry.scores.prompts, tasks.prompts)
        solved[rows[here]] += right[here]
        runs[rows[here]] += entry.scores.n_draws[here]
        n_unscored += entry.scores.n_unscored
        n_without += int((~here).sum())
    if runs.any():
        return _Agent(members, solved, runs, n_unscored, n_without)
    return "no task with minutes was scored"


def _days(store: Store, agents: Sequence[_Agent]) -> list[date | None]:
    run_ids = [_run_ids(agent.members) for agent in agents]
    days = release_days(store, list(chain.from_iterable(run_ids)))
    earliest: list[date | None] = []
    for own in run_ids:
        earliest.append(min((days[run] for run in own if run in days), default=None))
    return earliest


def _run_ids(members: ConditionSet) -> tuple[int, ...]:
    return tuple(
        chain.from_iterable(condition.run_ids for condition in members.conditions)
    )


def _row(
    question: TimeHorizon,
    agent: _Agent,
    fit: HorizonFit,
    at: Horizon,
    label: str,
    day: date | None,
    n_tasks: int,
) -> HorizonRow:
    by_q = {horizon.q: horizon.estimate for horizon in fit.horizons}
    settings = ("benchmark", "level", "penalty", "weights")
    fitted = (
        "interval",
        "slope",
        "intercept",
        "n_tasks",
        "n_families",
        "n_runs",
        "n_solved",
    )
    checked = ("cross_entropy", "curvature", "curvature_p", "bins")
    return HorizonRow(
        model=agent.members.model,
        condition=label,
        metric=", ".join(
            sorted({entry.metric.label for entry in agent.members.entries.values()})
        ),
        reason=fit.reason
        or ("" if at.estimate else "beyond any length: the curve is almost flat"),
        p50=by_q[0.5],
        p80=by_q[0.8],
        metr=0.0 if fit.reason == NOTHING_SOLVED else at.estimate,
        n_unscored=agent.n_unscored,
        n_without_minutes=agent.n_without_minutes,
        release_date=day.isoformat() if day else None,
        flags=(*at.flags, *fit.flags, *(("subset",) if fit.n_tasks < n_tasks else ())),
        run_ids=_run_ids(agent.members),
        **{name: getattr(question, name) for name in settings},
        **{
            name: getattr(at, name)
            for name in ("q", "estimate", "low", "high", "unpenalised")
        },
        **{name: getattr(fit, name) for name in (*fitted, *checked)},
    )


def _trends(
    question: TimeHorizon, fits: Sequence[HorizonFit], days: Sequence[date | None]
) -> Iterator[HorizonTrend]:
    numbers = [float(day.toordinal()) if day else math.nan for day in days]
    for index in range(len(question.q)):
        yield horizon_trend(
            numbers, [fit.horizons[index] for fit in fits], level=question.level
        )


def _notes(tasks: _Tasks, agents: Sequence[_Agent]) -> Iterator[str]:
    without = max(agent.n_without_minutes for agent in agents)
    if without:
        yield f"up to {without} tasks of a model have no {MINUTES}, and do not count"
    if tasks.without_family:
        yield (
            f"{tasks.without_family} tasks name no {FAMILY}: each is a family of its "
            "own"
        )
    unscored = sum(agent.n_unscored for agent in agents)
    if unscored:
        yield f"{unscored} runs have no score, and do not count"
