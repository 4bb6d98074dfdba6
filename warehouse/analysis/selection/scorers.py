"""Who scored: people, judges, programs, in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import counted, listed

#: Scorers beside the one that is taken of whom a note says how they are.
_MOST_OFFERED = 3
#: The column of a run that names its scorers: no column of the view, as few ask for it.
SCORER = "scorer"
#: Who is taken where several scored the same: a program before a judge, a judge before
#: people.
_KINDS_OF_SCORERS = ("match", "execution", "model", "human")
#: What a scorer without a name is called, by its kind.
_WITHOUT_NAME = {
    "match": "a comparison",
    "execution": "an execution",
    "model": "a judge",
    "human": "people",
}


def scorer_in_words(name: str, kind: str) -> str:
    """A scorer by its name, else by its kind."""
    return name or _WITHOUT_NAME.get(kind, "a comparison")


def scorers_of(store: Store, runs: Sequence[int]) -> dict[int, tuple[int, str]]:
    """By run, the place of the kind of its scorers, and their names."""
    names: dict[int, list[tuple[int, str]]] = {}
    for row in store.rows(
        query_text("analysis/selection", "scorers_of_runs"), {"runs": list(runs)}
    ):
        name = scorer_in_words(row["judge_model"] or row["name"], row["kind"])
        names.setdefault(row["run_id"], []).append(
            (_KINDS_OF_SCORERS.index(row["kind"]), name)
        )
    placed = {}
    for run, found in names.items():
        placed[run] = (
            min(place for place, _ in found),
            ", ".join(sorted({name for _, name in found})),
        )
    return placed


def place_of(kind: str) -> int:
    """Order of the kinds of scorers: whose figures stand first where several scored the
    same."""
    if kind in _KINDS_OF_SCORERS:
        return _KINDS_OF_SCORERS.index(kind)
    return len(_KINDS_OF_SCORERS)


def name_scorers(
    store: Store, runs: Sequence[dict[str, Any]]
) -> Sequence[dict[str, Any]]:
    """The same runs, each with the names of who scored it under `SCORER`; none for
    plain comparisons.

    Args:
        runs: rows of ``run_current`` as they were read, which nobody else has: they are
            many, and no copy is made.
    """
    judged = [run["run_id"] for run in runs if run["scorers_key"]]
    names: dict[int, list[str]] = {}
    for run in runs:
        run[SCORER] = ()
    if not judged:
        return runs
    for row in store.rows(
        query_text("analysis/selection", "scorers_of_runs"),
        {"runs": judged},
        per="run_id",
    ):
        name = row["judge_model"] or row["name"]
        if name:
            names.setdefault(row["run_id"], []).append(name)
    for run in runs:
        if run["run_id"] in names:
            run[SCORER] = tuple(sorted(set(names[run["run_id"]])))
    return runs


@dataclass(frozen=True)
class Scorer:
    """Who scored something, and how much of it."""

    name: str  #: as ``--where scorer=NAME`` takes it; else what its kind is called.
    n_questions: int  #: that it scored, of the model of which it scored most.


def taken_in_words(
    benchmark: str, scorers: Sequence[Scorer], why: str, *, can_choose: bool = True
) -> str:
    """Which of several scorers of the same is taken, and how the others are.

    ``faq: scored by gpt-4o (150 questions) and by people (40). Taken: gpt-4o, the
    headline metric. people instead: --where scorer=people; both: warehouse judge
    agreement faq --judge gpt-4o --human people``

    Args:
        benchmark: on which they scored.
        scorers: of whom the first is taken.
        why: it is, as ``the headline metric``.
        can_choose: each has runs of its own, so that a condition on runs takes one.
    """
    told = [
        f"by {one.name} ({counted(one.n_questions, 'question')})" for one in scorers
    ]
    first, *others = scorers
    advice = []
    for one in others[:_MOST_OFFERED]:
        has_name = one.name not in _WITHOUT_NAME.values() or one.name == "people"
        if can_choose and has_name:
            condition = shlex.quote(f"scorer={one.name}")
            advice.append(f"{one.name} instead: --where {condition}")
    if len(others) == 1 and (advice or not can_choose):
        names = ["--judge", first.name, "--human", others[0].name]
        call = shlex.join(["warehouse", "judge", "agreement", benchmark, *names])
        advice.append(f"both: {call}")
    return (
        f"scored {listed(told)}. Taken: {first.name}, {why}. {'; '.join(advice)}"
    ).rstrip()


def others_in_words(scorers: Sequence[tuple[int, str]]) -> str:
    """``by gpt-4o; also scored by people``, the headline's scorer first; empty for one.

    Args:
        scorers: place of the kind of each, and its name.
    """
    different = sorted(set(scorers))
    if len(different) < 2:
        return ""
    kinds = (*_KINDS_OF_SCORERS, "")  # the last of those that are none of them
    first, *others = [scorer_in_words(name, kinds[place]) for place, name in different]
    advice = ""
    if any(name for _, name in different):
        advice = " (--where scorer=NAME takes one alone)"
    return f"by {first}; also scored by {', '.join(others)}{advice}"
