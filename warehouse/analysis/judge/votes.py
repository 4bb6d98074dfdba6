"""Votes of a judge held against people's votes on the same prompt and models, and what
the order shown does to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.judge.question import HeldAgainstPeople
from warehouse.analysis.prefer.votes import Scorer, Votes, read_votes, scorers_of_votes
from warehouse.analysis.selection.benchmarks import find_benchmark, metrics_of
from warehouse.errors import MisuseError
from warehouse.stats import sign_flip_test
from warehouse.stats.preferences.ballots import FIRST, SECOND
from warehouse.store.connection import Store
from warehouse.tables.words import some_of

Numbers = NDArray[np.float64]
_MODEL = "select judge_model from scorer where id = :id"


@dataclass(frozen=True)
class OrderEffect:
    """The effect of the order of two answers to a judge's votes."""

    n_both: int  #: pairs of answers that it judged in both orders.
    n_changed: int  #: of these those with another verdict in the other order.
    #: with the first shown both times; ``second_both`` with the second.
    first_both: int
    second_both: int
    p_value: float  #: sign flip by prompts, of as many of the one as of the other.
    #: votes, and those that agree with people, by which answer was first: (its model,
    #: votes, agreeing).
    in_order: tuple[tuple[str, int, int], ...]
    n_both_right: int  #: pairs on which both verdicts agree with people.


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Each vote of a judge beside people's on the same prompt and models."""

    judge: str
    human: str
    judge_model: str
    models: tuple[str, ...]
    #: people's verdict: 1 for the first of the two models, 0, or ½ for a tie or as many
    #: for each, shape (n,).
    h: Numbers
    g: Numbers  #: the judge's, shape (n,).
    prompt: NDArray[np.int64]  #: code of the prompt.
    #: code of the first model, ``second_model`` of the second: as people were shown
    #: them, else by name.
    first_model: NDArray[np.int64]
    second_model: NDArray[np.int64]
    #: code of the model that the judge was shown first; -1: not known.
    shown_first: NDArray[np.int64]
    #: numbers that tell the judge's instructions and draws apart.
    form: NDArray[np.int64]
    n_judged: int  #: votes of the judge, those that people did not judge included.
    notes: tuple[str, ...]
    source_ids: tuple[int, ...]  #: of the votes of all who judged.

    def by_model(self) -> Iterator[tuple[str, NDArray[np.bool_], Numbers, Numbers]]:
        """Each model with the votes that it is in, and both verdicts seen from its
        side."""
        for code, name in enumerate(self.models):
            own = (self.first_model == code) | (self.second_model == code)
            if own.any():
                turned = self.second_model == code
                yield (
                    name,
                    own,
                    np.where(turned, 1 - self.h, self.h),
                    np.where(turned, 1 - self.g, self.g),
                )

    def order(self) -> OrderEffect | None:
        """The effect of order, of the pairs that were judged in both orders; None
        without any."""
        low = np.minimum(self.first_model, self.second_model)
        by_low = np.where(self.first_model == low, self.g, 1 - self.g)
        people = np.where(self.first_model == low, self.h, 1 - self.h)
        first = self.shown_first == low
        is_known = self.shown_first >= 0
        key = np.stack(
            [
                self.prompt,
                low,
                np.maximum(self.first_model, self.second_model),
                self.form,
            ]
        )
        pairs, of = np.unique(key[:, is_known], axis=1, return_inverse=True)
        size, of = pairs.shape[1], of.reshape(-1)
        verdicts = np.full((2, size), np.nan)
        for side in (0, 1):
            chosen = first[is_known] if side == 0 else ~first[is_known]
            verdicts[side, of[chosen]] = by_low[is_known][chosen]
        label = np.full(size, np.nan)
        label[of] = people[is_known]
        both = np.isfinite(verdicts).all(axis=0)
        if not both.any():
            return None
        # whatever was judged in one order only counts there too
        right = verdicts == label
        seen = np.isfinite(verdicts)
        verdict, prompt = verdicts[:, both], pairs[0, both]
        # 1: the first shown gains
        ahead = (verdict[0] > verdict[1]).astype(float) - (verdict[0] < verdict[1])
        two = len(self.models) == 2
        names = (
            (self.models[0], self.models[1])
            if two
            else ("the model first by name", "the other")
        )
        return OrderEffect(
            n_both=int(both.sum()),
            n_changed=int((verdict[0] != verdict[1]).sum()),
            first_both=int((ahead > 0).sum()),
            second_both=int((ahead < 0).sum()),
            p_value=sign_flip_test(ahead, prompt).p_value,
            in_order=tuple(
                (name, int(there.sum()), int(own.sum()))
                for name, there, own in zip(names, seen, right, strict=True)
            ),
            n_both_right=int(right.all(axis=0).sum()),
        )


def has_votes(store: Store, question: HeldAgainstPeople) -> bool:
    """True if the two that are meant have voted on a benchmark, rather than scored
    answers."""
    benchmark = find_benchmark(store, question.benchmark)
    scorers = scorers_of_votes(store, benchmark.ids)
    named = [name for name in (question.judge, question.human) if name is not None]
    if scorers and not metrics_of(store, benchmark.ids):
        return True
    if named:
        return all(_called(store, scorers, name) for name in named)
    return {"model", "human"} <= {scorer.kind for scorer in scorers}


def _called(store: Store, scorers: Sequence[Scorer], name: str) -> list[Scorer]:
    """Scorers of a name: their label, or the model that judges."""
    by_label = [scorer for scorer in scorers if scorer.label == name]
    return by_label or [
        scorer for scorer in scorers if _judge_model(store, scorer) == name
    ]


def _judge_model(store: Store, scorer: Scorer) -> str:
    return str(store.rows(_MODEL, {"id": scorer.id})[0]["judge_model"] or "")


def _only(
    store: Store, scorers: Sequence[Scorer], name: str | None, kind: str, option: str
) -> Scorer:
    if name is None:
        found = [scorer for scorer in scorers if scorer.kind == kind]
    else:
        found = _called(store, scorers, name)
    if len(found) == 1:
        return found[0]
    there = ", ".join(map(str, scorers))
    if name is None:
        nobody = f"no scorer of kind {kind} has voted"
    else:
        nobody = f"nobody called {name!r} has voted"
    what = nobody
    if found:
        what = "several have voted"
    raise MisuseError(f"{what}, name one with {option}: {there}")


def read_verdicts(store: Store, question: HeldAgainstPeople) -> Verdicts:
    """The votes of judge and people on the same prompts and models.

    Raises:
        MisuseError: unknown names, several where none is named, no prompt and pair that
            both judged.
    """
    scorers = scorers_of_votes(store, find_benchmark(store, question.benchmark).ids)
    judge = _only(store, scorers, question.judge, "model", "--judge")
    human = _only(store, scorers, question.human, "human", "--human")
    if judge.id == human.id:
        raise MisuseError(
            f"{judge.label} cannot be held against itself: name the judge with "
            "--judge, people with --human"
        )
    votes = read_votes(store, question.benchmark, by_scorer=True)
    code = [scorer.id for scorer in votes.scorers]
    theirs, own = (votes.scorer == code.index(scorer.id) for scorer in (human, judge))
    for scorer, cast in ((judge, own), (human, theirs)):
        if not cast.any():
            reasons = [f"{n} {reason}" for reason, n in votes.left_out.items()]
            why = ", ".join(reasons)
            raise MisuseError(
                f"no vote of {scorer.label} on {votes.benchmark} counts; left out of "
                f"all votes there: {why}"
            )
    named = votes.prompt >= 0
    notes = []
    if nameless := int(((theirs | own) & ~named).sum()):
        notes.append(f"{nameless} votes name no prompt, and cannot be matched")
    if votes.n_shared:
        notes.append(
            f"{votes.n_shared} votes stand in another source too, and count twice: "
            f"{some_of(votes.shared_by)}"
        )
    if not (theirs & named).any() or not (own & named).any():
        raise MisuseError(
            f"votes of {judge.label} and {human.label} on {votes.benchmark} cannot be "
            "paired: they name no prompt"
        )
    key = votes.pair_keys
    of_people = np.flatnonzero(theirs & named)
    labels, sides, at = _labels(votes, of_people, key)
    notes += _majorities(human.label, key[of_people], labels)
    rows = np.flatnonzero(own & named)
    n_judged = int(own.sum())
    of_label = np.searchsorted(at, key[rows])
    there = (of_label < len(at)) & (at[np.minimum(of_label, len(at) - 1)] == key[rows])
    rows, of_label = rows[there], of_label[there]
    if not len(rows):
        raise MisuseError(
            f"{judge.label} and {human.label} have judged no pair of answers to the "
            f"same prompt on {votes.benchmark}: {n_judged} votes of the judge, "
            f"{int(theirs.sum())} of people"
        )
    rows, of_label = _once(votes, rows, of_label)
    first_model, second_model = sides[0][of_label], sides[1][of_label]
    said = _for_low(votes, rows)
    turned = first_model > second_model
    return Verdicts(
        judge=judge.label,
        human=human.label,
        judge_model=_judge_model(store, judge) or judge.label,
        models=votes.models,
        h=np.where(turned, 1 - labels[of_label], labels[of_label]),
        g=np.where(turned, 1 - said, said),
        prompt=votes.prompt[rows],
        first_model=first_model,
        second_model=second_model,
        shown_first=np.where(votes.order_known[rows], votes.first[rows], -1),
        form=votes.variant[rows] * (int(votes.draw.max()) + 1) + votes.draw[rows],
        n_judged=n_judged,
        notes=tuple(notes),
        source_ids=votes.source_ids,
    )


def _for_low(votes: Votes, rows: NDArray[np.intp]) -> Numbers:
    """Verdicts of votes, 1 for the model of the lower code."""
    y = np.select(
        [votes.outcome[rows] == FIRST, votes.outcome[rows] == SECOND], [1.0, 0.0], 0.5
    )
    return np.where(votes.first[rows] < votes.second[rows], y, 1 - y)


def _labels(
    votes: Votes, rows: NDArray[np.intp], key: NDArray[np.int64]
) -> tuple[Numbers, tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]:
    """People's verdict by prompt and pair: what most say, ½ for as many on each side;
    the order they saw; the keys."""
    at, first, of = np.unique(key[rows], return_index=True, return_inverse=True)
    weight = votes.weight[rows]
    mean = np.bincount(of, weight * _for_low(votes, rows)) / np.bincount(of, weight)
    verdict = np.where(np.isclose(mean, 0.5), 0.5, (mean > 0.5).astype(float))
    low = np.minimum(votes.first, votes.second)[rows[first]]
    high = np.maximum(votes.first, votes.second)[rows[first]]
    turned = votes.order_known[rows[first]] & (votes.first[rows[first]] == high)
    return verdict, (np.where(turned, high, low), np.where(turned, low, high)), at


def _majorities(who: str, keys: NDArray[np.int64], verdicts: Numbers) -> list[str]:
    """That one verdict stands for several votes, and how often these are split evenly.

    Args:
        who: cast them.
        keys: pair of answers that each vote is on.
        verdicts: of each pair.
    """
    _, n_votes = np.unique(keys, return_counts=True)
    several = n_votes > 1
    if not several.any():
        return []
    n_even = int((verdicts[several] == 0.5).sum())
    return [
        f"{who}: several voted on {int(several.sum()):,} of {len(n_votes):,} pairs of "
        "answers: what most of them say counts as one verdict (the sign of their mean; "
        f"a tie where they are split evenly: {n_even:,})"
    ]


def _once(
    votes: Votes, rows: NDArray[np.intp], pair: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The judge's votes, one of each that two sources hold."""
    shown = np.where(votes.order_known[rows], votes.first[rows], -1)
    same = np.stack(
        [pair, shown, votes.variant[rows], votes.draw[rows], votes.outcome[rows]]
    )
    first = np.sort(np.unique(same, axis=1, return_index=True)[1])
    return rows[first], pair[first]
