"""The answers of one model held against the targets: as classes, or as numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.answers.labels import UNCLEAR, Labels, number_in
from warehouse.analysis.answers.read import Answered
from warehouse.analysis.answers.rows import AnsweredModel
from warehouse.errors import MisuseError
from warehouse.stats.classification.confusion import LabelledAnswers, labelled_answers
from warehouse.tables.words import excerpt

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Answers without a class that are told, and their characters.
_TOLD, _LENGTH = 3, 30


@dataclass(frozen=True)
class HeldClasses:
    """Answers of a model as classes."""

    of: Answered
    ids: Ints  #: prompts that count, ascending, shape (n,).
    answers: LabelledAnswers  #: in the same order.
    facts: AnsweredModel  #: what there is of them.

    def on(self, ids: Ints, classes: tuple[str, ...]) -> LabelledAnswers:
        """The answers to some of the prompts.

        Args:
            ids: ascending, all among `ids`.
            classes: order of the classes.
        """
        places = np.searchsorted(ids, self.ids)
        inside = np.minimum(places, len(ids) - 1)
        is_kept = ids[inside] == self.ids
        draws = is_kept[self.answers.prompts]
        names = np.array([*self.answers.classes, None], dtype=object)
        return labelled_answers(
            names[self.answers.targets[is_kept]].tolist(),
            names[self.answers.answers[draws]].tolist(),
            places[self.answers.prompts[draws]],
            declared=classes,
        )


@dataclass(frozen=True)
class HeldNumbers:
    """Answers of a model as numbers; of several draws their mean."""

    of: Answered
    ids: Ints  #: prompts with a number as answer, ascending, shape (n,).
    targets: Floats  #: of each.
    answers: Floats  #: of each.
    facts: AnsweredModel  #: what there is of them.


def hold_classes(
    answered: Answered, labels: Labels, *, only_answered: bool
) -> HeldClasses:
    """The classes that a model answers.

    Args:
        only_answered: leave prompts without an answer out.

    Raises:
        MisuseError: no prompt is left.
    """
    given = _labels_given(answered, labels)
    has_target = [prompt in labels.targets for prompt in answered.prompts.tolist()]
    draws = np.flatnonzero(np.array(has_target, dtype=bool))
    if not len(draws):
        raise MisuseError(f"{answered.name}: none of its prompts has a target")
    ids, prompts = np.unique(answered.prompts[draws], return_inverse=True)
    held = labelled_answers(
        [labels.targets[prompt] for prompt in ids.tolist()],
        [given[draw] for draw in draws.tolist()],
        prompts,
        declared=labels.classes,
    )
    facts = _facts(answered, held, draws, given)
    judged = _judged_otherwise(answered, held, draws)
    facts = replace(facts, n_judged=judged[0], n_judged_otherwise=judged[1])
    if only_answered:
        if not facts.share_answered:
            raise MisuseError(f"{answered.name}: no answer names a class")
        held, kept = held.answered()
        ids = ids[kept]
        facts = replace(facts, n_prompts=held.n, n_draws=len(held.answers))
    return HeldClasses(answered, ids, held, facts)


def _labels_given(answered: Answered, labels: Labels) -> list[str | None]:
    """The class of each draw; each text of a prompt is read once."""
    prompts = answered.prompts.tolist()
    if answered.options is not None:
        options = answered.options.tolist()
        pairs = zip(prompts, options, strict=True)
        return [labels.of_option(prompt, option) for prompt, option in pairs]
    known: dict[tuple[int, str | None], str | None] = {}
    given: list[str | None] = []
    for pair in zip(prompts, answered.texts, strict=True):
        if pair not in known:
            known[pair] = labels.of_text(*pair)
        given.append(known[pair])
    return given


def _facts(
    answered: Answered, held: LabelledAnswers, draws: Ints, given: list[str | None]
) -> AnsweredModel:
    unclear: Counter[str] = Counter()
    if answered.texts:
        for draw in draws.tolist():
            if given[draw] == UNCLEAR:
                unclear[excerpt(answered.texts[draw], _LENGTH)] += 1
    return AnsweredModel(
        model=answered.condition.model,
        condition=answered.label,
        source=answered.source,
        n_prompts=held.n,
        n_draws=len(held.answers),
        n_no_answer=held.n_no_answer,
        n_no_class=held.n_no_class,
        share_answered=held.share_answered,
        n_judged=0,
        n_judged_otherwise=0,
        no_class=tuple(text for text, _ in unclear.most_common(_TOLD)),
        run_ids=answered.condition.run_ids,
    )


def _judged_otherwise(
    answered: Answered, held: LabelledAnswers, draws: Ints
) -> tuple[int, int]:
    """Draws whose score is 0 or 1, and those that answer and target judge otherwise."""
    if not len(answered.values):
        return 0, 0
    scores = answered.values[draws]
    is_judged = (scores == 0) | (scores == 1)
    is_right = held.answers == held.targets[held.prompts]
    otherwise = is_judged & (is_right != (scores == 1))
    return int(is_judged.sum()), int(otherwise.sum())


def hold_numbers(answered: Answered, labels: Labels) -> HeldNumbers:
    """The numbers that a model answers, beside the targets.

    Raises:
        MisuseError: no answer is a number.
    """
    if answered.options is not None:
        raise MisuseError(
            f"{answered.name}: its answers are options of prompts, which are no "
            "numbers; --as classes counts them"
        )
    rows: list[tuple[int, float | None]] = []
    for prompt, text in zip(answered.prompts.tolist(), answered.texts, strict=True):
        if prompt in labels.targets:
            rows.append((prompt, number_in(text)))
    numbers = [(prompt, value) for prompt, value in rows if value is not None]
    if not numbers:
        raise MisuseError(f"{answered.name}: no answer is a number")
    ids, codes = np.unique([prompt for prompt, _ in numbers], return_inverse=True)
    values = np.array([value for _, value in numbers], dtype=np.float64)
    means = np.bincount(codes, values) / np.bincount(codes)
    targets = [number_in(labels.targets[prompt]) for prompt in ids.tolist()]
    return HeldNumbers(
        of=answered,
        ids=ids,
        targets=np.array(targets, dtype=np.float64),
        answers=means.astype(np.float64),
        facts=_facts_of_numbers(answered, rows, ids),
    )


def _facts_of_numbers(
    answered: Answered, rows: list[tuple[int, float | None]], ids: Any
) -> AnsweredModel:
    prompts = {prompt for prompt, _ in rows}
    n_empty = sum(text is None or not text.strip() for text in answered.texts)
    n_without = sum(value is None for _, value in rows)
    return AnsweredModel(
        model=answered.condition.model,
        condition=answered.label,
        source=answered.source,
        n_prompts=len(ids),
        n_draws=len(rows),
        n_no_answer=min(n_empty, n_without),
        n_no_class=max(0, n_without - n_empty),
        share_answered=len(ids) / len(prompts),
        n_judged=0,
        n_judged_otherwise=0,
        no_class=(),
        run_ids=answered.condition.run_ids,
    )
