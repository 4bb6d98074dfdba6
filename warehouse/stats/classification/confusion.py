"""Answers and targets as numbers of classes, and the table of both (statistics.md
§23)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, check_length

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class LabelledAnswers:
    """The answers of a run beside the targets, by number of their class.

    A prompt counts once: each of its K draws has the weight 1/K. What is no class, and
    no answer at all, has the number that follows the last class.
    """

    classes: tuple[str, ...]  #: the C labels that some target has, in order.
    unused: tuple[str, ...]  #: declared classes that no target has.
    targets: Codes  #: class of each prompt's target, shape (n,).
    answers: Codes  #: class of each draw's answer, C where it is none, shape (m,).
    prompts: Codes  #: prompt of each draw, 0 to n−1, shape (m,).
    weights: FloatArray  #: 1/K of each draw's prompt, shape (m,).
    n_no_answer: int  #: draws without an answer.
    n_no_class: int  #: draws whose answer is no class, counted as no answer.

    @property
    def n(self) -> int:
        """Prompts."""
        return len(self.targets)

    @property
    def n_classes(self) -> int:
        """Classes C that have a target."""
        return len(self.classes)

    @property
    def is_plain(self) -> bool:
        """Whether each prompt has one draw."""
        return len(self.answers) == self.n

    @cached_property
    def target_counts(self) -> FloatArray:
        """Prompts with each target, shape (C,)."""
        return np.bincount(self.targets, minlength=self.n_classes).astype(np.float64)

    @cached_property
    def table(self) -> FloatArray:
        """Share of prompts by target (rows) and answer (columns, the last: none), shape
        (C, C+1)."""
        width = self.n_classes + 1
        cells = self.targets[self.prompts] * width + self.answers
        sums = np.bincount(cells, self.weights, self.n_classes * width)
        whole: FloatArray = np.round(sums, 10)  # three thirds are one
        return whole.reshape(-1, width) / self.n

    @property
    def share_answered(self) -> float:
        """Share of prompts with an answer that is a class."""
        return 1 - float(self.table[:, -1].sum())

    def by_prompt(self, cells: FloatArray) -> FloatArray:
        """Of each prompt the mean over its draws of what stands in the cell of target
        and answer, shape (n,).

        Args:
            cells: of shape (C, C+1).
        """
        values = cells[self.targets[self.prompts], self.answers]
        if self.is_plain:
            return np.asarray(values[np.argsort(self.prompts)], dtype=np.float64)
        sums = np.bincount(self.prompts, values * self.weights, self.n)
        return sums.astype(np.float64)

    def answered(self) -> tuple[LabelledAnswers, Codes]:
        """The draws with an answer that is a class, and which prompts are left.

        Raises:
            StatisticsError: there is none.
        """
        has_answer = self.answers < self.n_classes
        if not has_answer.any():
            raise StatisticsError("no prompt has an answer that is one of the classes")
        kept, prompts = np.unique(self.prompts[has_answer], return_inverse=True)
        labels = np.array([*self.classes, None], dtype=object)
        left = labelled_answers(
            labels[self.targets[kept]].tolist(),
            labels[self.answers[has_answer]].tolist(),
            prompts,
            declared=[*self.classes, *self.unused],
        )
        return left, kept


def labelled_answers(
    targets: Sequence[str],
    answers: Sequence[str | None],
    prompts: ArrayLike | None = None,
    *,
    declared: Sequence[str] = (),
) -> LabelledAnswers:
    """Targets and answers as numbers of classes.

    The classes are the labels that some target has. An answer of any other label counts
    as none, and is counted.

    Args:
        targets: label of each prompt, shape (n,), n at least 1.
        answers: label of each draw's answer, None where there is none, shape (m,).
        prompts: prompt of each draw, from 0 to n−1, each at least once, shape (m,);
            None: one draw each, in the order of the targets.
        declared: labels that there may be, in their order; None given: the order of
            the alphabet, of numbers by size.

    Raises:
        StatisticsError: no targets, a target that is None, or lengths that do not fit.

    Examples:
        >>> held = labelled_answers(["no", "yes", "yes"], ["no", "yes", None])
        >>> held.classes, (held.table * 3).round().tolist()
        (('no', 'yes'), [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    """
    n = len(targets)
    if not n:
        raise StatisticsError("`targets` is empty: a metric needs at least one prompt")
    if any(target is None for target in targets):
        raise StatisticsError("`targets` holds None: leave prompts without target out")
    of_draws = _prompts_of(prompts, len(answers), n)
    found = set(targets)
    in_order = list(dict.fromkeys(declared)) or sorted(found, key=class_order)
    in_order += sorted(found - set(in_order), key=class_order)
    classes = tuple(label for label in in_order if label in found)
    numbers = {label: number for number, label in enumerate(classes)}
    codes = [numbers.get(answer, len(classes)) for answer in answers]  # type: ignore[arg-type]
    n_none = sum(answer is None for answer in answers)
    counts = np.bincount(of_draws, minlength=n)
    return LabelledAnswers(
        classes=classes,
        unused=tuple(label for label in in_order if label not in found),
        targets=np.array([numbers[target] for target in targets], dtype=np.intp),
        answers=np.array(codes, dtype=np.intp),
        prompts=of_draws,
        weights=1 / counts[of_draws],
        n_no_answer=n_none,
        n_no_class=codes.count(len(classes)) - n_none,
    )


def class_order(label: str) -> tuple[float, str]:
    """Key by which classes are sorted: numbers by size, then words."""
    try:
        return float(label), label
    except ValueError:
        return float("inf"), label


def _prompts_of(prompts: ArrayLike | None, n_draws: int, n: int) -> Codes:
    if prompts is None:
        check_length(n_draws, n, "answers")
        return np.arange(n, dtype=np.intp)
    codes = np.asarray(prompts)
    check_length(len(codes), n_draws, "prompts")
    if codes.dtype.kind not in "iu":
        raise StatisticsError("`prompts` must hold one whole number for each draw")
    if set(codes.tolist()) != set(range(n)):
        raise StatisticsError(
            f"`prompts` must name each prompt from 0 to {n - 1} at least once; leave "
            "prompts without a draw out"
        )
    return codes.astype(np.intp)
