"""What one would ask next after an answer of item response models, of the matrix of all
scores, of single prompts, and of curves."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from .next_labels import Step

#: Models without which no anchors are found.
_FOR_ANCHORS = 8


def _plain(question: Any) -> str:
    """The line of a question, which may be answered by what is stored."""
    said: str = replace(question, fresh=False, store_result=True).command()
    return said


def _matrix(question: Any, other: str) -> str:
    """The line of another question on the same matrix."""
    return _plain(question).replace("matrix test", f"matrix {other}", 1)


def _irt(question: Any, other: str) -> str:
    """The line of another question on the same answers."""
    return _plain(question).replace("irt fit", f"irt {other}", 1)


def after_matrix_test(_result: Any, question: Any) -> Step:
    """Which prompts go together."""
    return "which prompts models find alike", _matrix(question, "cluster")


def after_matrix_clusters(_result: Any, question: Any) -> Step:
    """Whether that matters for who leads."""
    return "whether places change as prompts weigh otherwise", _matrix(
        question, "weights"
    )


def after_matrix_weights(_result: Any, question: Any) -> Step:
    """From how many prompts on places stand."""
    return "from how many prompts on models stand as on all", _matrix(question, "grow")


def after_matrix_growth(result: Any, question: Any) -> Step:
    """A few prompts that stand for all, where there are models enough to find them by."""
    from warehouse.analysis.anchors.question import Anchors

    if result.n_models < _FOR_ANCHORS:
        return None
    chosen = Anchors(
        (result.benchmark,),
        metric=question.metric,
        where=question.where,
        latest=question.latest,
    )
    return "a few prompts that stand for all", chosen.command()


def after_matrix_explanation(_result: Any, question: Any) -> Step:
    """The same prompts by scores alone."""
    return "which prompts models find alike", _matrix(question, "cluster")


def after_irt_fit(result: Any, question: Any) -> Step:
    """Models on the scale of the prompts."""
    return "where the models stand on this scale", _irt(question, "ability")


def after_irt_abilities(result: Any, question: Any) -> Step:
    """What hangs on one of several benchmarks; of one, every two models by scores."""
    if len(result.benchmarks) > 1:
        if result.sensitivity:
            return None
        line = f"{_irt(question, 'ability')} --sensitivity"
        return "what the order is without each benchmark", line
    from warehouse.analysis.pairs.question import AllPairs

    pairs = AllPairs(
        benchmark=result.benchmarks[0], metric=question.metric, where=question.where
    )
    return "every two of them, by their scores", pairs.command()


def after_irt_next(result: Any, question: Any) -> Step:
    """The prompts as another program takes them."""
    from warehouse.analysis.irt.question import NextItems

    if not result.rows:
        return None
    irt, asked = question
    words = ["next", shlex.quote(asked.asked)]
    line = _irt(irt, " ".join(words))
    if asked.n != NextItems(asked.asked).n:
        line += f" -n {asked.n}"
    if asked.new:
        line += " --new"
    return "their ids alone, to ask them", f"{line} --ids"


def after_irt_dimensions(_result: Any, question: Any) -> Step:
    """The prompts of the scale."""
    return "which prompts do not fit the scale", _irt(question, "fit")


def after_irt_scale(report: Any, question: Any) -> Step:
    """The benchmarks on the scale of the models."""
    if question.predict is not None:
        return None
    return (
        "how hard the benchmarks are, on the same scale",
        f"{question.command()} --by-benchmark",
    )


def after_items(report: Any, question: Any) -> Step:
    """The first prompt of the table, with its answers."""
    if not report.rows:
        return None
    return (
        "the first of them, as it was asked",
        f"warehouse show {report.rows[0].prompt}",
    )


def after_curves(_report: Any, question: Any) -> Step:
    """Every checkpoint of the curves."""
    return "every checkpoint", f"{question.command()} --checkpoints"
