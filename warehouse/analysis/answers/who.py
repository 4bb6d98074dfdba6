"""Which models have a row, why others have none, and what a reader should know of the
answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from warehouse.analysis.answers.held import (
    HeldClasses,
    HeldNumbers,
    hold_classes,
)
from warehouse.analysis.answers.question import AnswerMetrics
from warehouse.analysis.answers.read import RESPONSES, BenchmarkAnswers
from warehouse.errors import MisuseError, did_you_mean
from warehouse.stats.classification.figures import RARE
from warehouse.tables.words import counted, some_of

#: Share of the answers of a model that name a class, below which whole responses are
#: no answers.
_FEWEST_NAMED = 0.5
#: Share of judged answers on which the benchmark's own metric says otherwise, above
#: which a note says so.
_OTHERWISE = 0.02


def held_classes(
    found: BenchmarkAnswers, question: AnswerMetrics
) -> tuple[list[HeldClasses], list[str]]:
    """The models whose answers are classes, and why others are left out.

    Raises:
        MisuseError: none is left, or one that was named is not.
    """
    held: list[HeldClasses] = []
    left_out: list[str] = []
    for answered in found.answered:
        try:
            own = hold_classes(answered, found.labels, only_answered=question.answered)
            _refuse_whole_responses(own)
        except MisuseError as error:
            left_out.append(str(error))
            continue
        held.append(own)
    n_missing = len(question.models) - len(held)
    if not held or n_missing > 0:
        reasons = "; ".join(left_out) or "; ".join(found.notes)
        raise MisuseError(
            f"{question.benchmark}: {reasons}. Metrics of classes need stored answers "
            "and targets, scores alone do not tell"
        )
    if question.models:
        return held, left_out
    return _of_one_class_list(held, left_out)


def _refuse_whole_responses(held: HeldClasses) -> None:
    """Refuse a model of which only whole responses are stored, that name no class.

    Raises:
        MisuseError: says so.
    """
    facts = held.facts
    n_named = facts.n_draws - facts.n_no_answer - facts.n_no_class
    if facts.source != RESPONSES or n_named >= _FEWEST_NAMED * facts.n_draws:
        return
    said = ""
    if facts.no_class:
        said = f" (such as {facts.no_class[0]!r})"
    raise MisuseError(
        f"{held.of.name}: its stored answers are whole responses{said}, of which "
        f"{n_named} of {facts.n_draws} name a class; they have to be extracted by the "
        "tool, or by a mapping with `extracted_answer`"
    )


def _of_one_class_list(
    held: Sequence[HeldClasses], left_out: list[str]
) -> tuple[list[HeldClasses], list[str]]:
    """Models whose prompts have the same classes as those of most: means over other
    classes are other figures."""
    lists = Counter(one.answers.classes for one in held)
    usual = max(lists, key=lambda classes: (lists[classes], len(classes)))
    same = [one for one in held if one.answers.classes == usual]
    for one in held:
        if one.answers.classes != usual:
            own = some_of(one.answers.classes, 5)
            left_out.append(
                f"{one.of.name}: targets of its {counted(one.facts.n_prompts, 'prompt')} "
                f"are of other classes ({own}), so that a mean over classes is another "
                "figure"
            )
    return same, left_out


def check_class(found: BenchmarkAnswers, question: AnswerMetrics) -> None:
    """Refuse what the classes of a benchmark do not have.

    Raises:
        MisuseError: one class only, no class of the name, or a metric of numbers.
    """
    classes = found.labels.classes
    if len(classes) < 2:
        raise MisuseError(
            f"all targets of {question.benchmark} are {classes[0]!r}: with one class "
            "there is nothing to tell apart"
        )
    if question.of_class is not None and question.of_class not in classes:
        there = f"there are: {some_of(classes, 12)}"
        raise MisuseError(
            f"{question.benchmark} has no class {question.of_class!r}; "
            f"{did_you_mean(question.of_class, classes, there)}"
        )
    for metric in question.asked_metrics():
        if metric.is_of_confidence:
            raise MisuseError(
                f"{metric.name} is of stored confidence: say which metric that is with "
                "--confidence METRIC"
            )
        if metric.is_of_numbers:
            raise MisuseError(
                f"{metric.name} is of numbers, and the targets of {question.benchmark} "
                f"are classes ({some_of(classes, 5)}); --as numbers reads them so"
            )


def notes_on_targets(found: BenchmarkAnswers) -> list[str]:
    """On prompts that do not count, and on classes that are places of options."""
    labels = found.labels
    notes = [f"{counted(n, 'prompt')} {why}" for why, n in labels.left_out.items()]
    if labels.unused:
        notes.append(
            f"no prompt has {some_of(labels.unused, 5)} as target: in no mean, and as an "
            "answer never right"
        )
    if labels.are_positions:
        notes.append(
            f"classes are letters of options ({', '.join(labels.classes)}), which stand "
            "for something else in each prompt: precision and recall of a letter say "
            "whether a model favours a place, and nothing about what it knows"
        )
    return notes


def notes_on_rare_classes(held: Sequence[HeldClasses]) -> list[str]:
    """On classes with so few prompts that means over classes hang on them."""
    rare: dict[str, int] = {}
    for one in held:
        counts = one.answers.target_counts.tolist()
        for label, n in zip(one.answers.classes, counts, strict=True):
            if n < RARE:
                rare[label] = max(rare.get(label, 0), round(n))
    if not rare:
        return []
    told = some_of([f"{label!r} ({n})" for label, n in rare.items()], 5)
    return [
        f"classes with fewer than {RARE} prompts: {told}; a mean over classes hangs on "
        "them"
    ]


def notes_on_models(held: Sequence[HeldClasses | HeldNumbers]) -> list[str]:
    """On answers that are none, and where the benchmark's own metric says otherwise."""
    notes: list[str] = []
    for one in held:
        facts = one.facts
        if facts.n_no_class:
            such = ""
            if facts.no_class:
                such = f", such as {facts.no_class[0]!r}"
            notes.append(
                f"{one.of.name}: {facts.n_no_class} of {facts.n_draws} answers name no "
                f"class{such}, and count as no answer"
            )
        if facts.n_judged_otherwise > _OTHERWISE * max(facts.n_judged, 1):
            notes.append(
                f"{one.of.name}: the benchmark's own metric judges "
                f"{facts.n_judged_otherwise} of {facts.n_judged} answers otherwise than "
                "answer and target do: warehouse show run:ID shows both"
            )
    return notes
