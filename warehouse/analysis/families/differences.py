"""Family ``differences``: paired, with named baselines and from one checkpoint to the
next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from warehouse.analysis.comparison.pairing import NotComparable, Pair, pair_up
from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import (
    FamilySettings,
    RefreshQuestion,
    Value,
    pair_of,
    subject_of,
)
from warehouse.analysis.families.rows import RefreshRow
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS
from warehouse.stats.core.inputs import is_constant
from warehouse.stats.paired.gate import p_of_constant

if TYPE_CHECKING:
    from warehouse.stats import PairedDifference


#: Kinds of differences: of two rows, and of a checkpoint and the one before.
PAIR, STEP = "pair", "step"


def difference_of(
    data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
) -> Value:
    """The difference by the first metric that both are judged by (NotComparable:
    nothing in common)."""
    kind: str = question.settings["kind"]
    first, second = question.settings["sides"]
    pair = _pair(_sides(data, kind, first), _sides(data, kind, second), data)
    paired = pair.difference(settings.level)
    return Value(
        kind,
        f"{first} - {second}",
        data.metric_name(pair.metric),
        "difference",
        paired.method,
        estimate=paired.difference,
        standard_error=paired.standard_error,
        low=paired.ci_low,
        high=paired.ci_high,
        n=pair.n,
        n_clusters=paired.n_clusters,
        reason=paired.reason,
        details={
            "level": paired.level,
            "p_value": paired.p_value,
            "mean_a": paired.mean_a,
            "mean_b": paired.mean_b,
            "degrees_of_freedom": paired.degrees_of_freedom,
            "higher_is_better": pair.metric.higher_is_better,
            "p_worse": _p_worse(pair, paired),
            "flags": [*dict.fromkeys([*paired.flags, *pair.row_flags])],
        },
    )


def _p_worse(pair: Pair, paired: PairedDifference) -> float | None:
    """One-sided p of "not worse than the other"; exact where all prompts differ alike."""
    if pair.metric.higher_is_better is None:
        return None
    if pair.metric.higher_is_better is False:
        loss = paired.difference
    else:
        loss = -paired.difference
    if paired.p_value is not None:
        if loss > 0:
            return paired.p_value / 2
        return 1 - paired.p_value / 2
    width = pair.score_range
    if width is None or not is_constant(pair.differences) or abs(loss) > width:
        return None
    return p_of_constant(-loss, len(set(pair.units.tolist())), 0.0, width)[1]


def _sides(data: BenchmarkData, kind: str, subject: str) -> list[ScoredCondition]:
    """The entries of a row; of a checkpoint those of its condition."""
    if kind == STEP:
        row = None
    else:
        row = data.row_called(subject)
    if row is not None:
        entries = data.row_entries(row)
    else:
        keys = [
            key
            for key, condition in data.conditions.items()
            if subject_of(condition) == subject
        ]
        entries = data.entries(keys)
    placed = [entry for entry in entries if not entry.no_place]
    if entries and not placed:
        why = "; ".join(
            dict.fromkeys(chain.from_iterable(entry.row_notes for entry in entries))
        )
        raise NotComparable(
            why or f"{subject} has no one figure: {entries[0].no_place}"
        )
    return [entry for entry in placed if entry.usable is not None]


def _pair(
    a: Sequence[ScoredCondition], b: Sequence[ScoredCondition], data: BenchmarkData
) -> Pair:
    """Both on the first metric of one judge that both have scores by."""
    for left in a:
        for other in b:
            if (
                left.metric.label == other.metric.label
                and left.metric.scale == other.metric.scale
            ):
                pair = pair_up(
                    left.condition,
                    other.condition,
                    left.metric,
                    data.linked(left),
                    data.linked(other),
                    data.linked_clusters,
                )
                return replace(
                    pair,
                    row_flags=tuple(dict.fromkeys([*left.row_flags, *other.row_flags])),
                    trained=(left.is_trained, other.is_trained),
                )
    raise NotComparable(
        "no metric of one scale and judge that both have scored prompts by"
    )


class Differences:
    """One question for each row and baseline, and for each checkpoint with one before
    it."""

    name, version = "differences", "7"

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """Pairs of one split and task version; of a baseline's rows the newest counts."""
        relevant = {"level": settings.level, "links": data.links_digest}
        questions: dict[str, RefreshQuestion] = {}
        for first, second in _with_baselines(data):
            sides = [first.subject, second.subject]
            name = f"{PAIR} {first.subject} - {second.subject}"
            about = relevant | {"kind": PAIR, "sides": sides}
            questions[name] = RefreshQuestion(name, (*first.keys, *second.keys), about)
        for after, before in _steps(data):
            sides = [subject_of(after), subject_of(before)]
            name = f"{STEP} {pair_of(after, before)}"
            questions[name] = RefreshQuestion(
                name, (after.key, before.key), relevant | {"kind": STEP, "sides": sides}
            )
        return list(questions.values())

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """The difference by the first metric that both are judged by, or why there is
        none."""
        try:
            return [difference_of(data, question, settings)]
        except NotComparable as error:
            first, second = question.settings["sides"]
            pair = f"{first} - {second}"
            return [
                Value(
                    question.settings["kind"],
                    pair,
                    "",
                    "difference",
                    "none",
                    reason=str(error),
                )
            ]


def _alike(condition: Condition, other: Condition) -> bool:
    """True if two conditions can be compared as the leaderboard ranks them."""
    names = ("split", "task_version")
    return all(
        (condition.setting(name) or "") == (other.setting(name) or "") for name in names
    )


def _with_baselines(data: BenchmarkData) -> Iterator[tuple[RefreshRow, RefreshRow]]:
    for keys in data.baselines.values():
        own = [row for row in data.rows if row.plan.keys & keys]
        for row in data.rows:
            like = [
                other
                for other in own
                if _alike(other.condition, row.condition) and other is not row
            ]
            if like and row not in own:
                yield row, max(like, key=lambda other: other.condition.newest)


def _steps(data: BenchmarkData) -> Iterator[tuple[Condition, Condition]]:
    """Each checkpoint with the one before it in the same training, all else being
    equal."""
    trainings: dict[tuple[object, ...], list[Condition]] = {}
    for condition in data.conditions.values():
        if condition.setting("position") is not None:
            same = [
                condition.setting(name)
                for name in LABEL_FIELDS
                if name not in CHECKPOINT_FIELDS
            ]
            unit = condition.setting("position_unit")
            trainings.setdefault((condition.model, unit, *same), []).append(condition)
    for members in trainings.values():
        members.sort(key=lambda member: member.setting("position"))
        for before, after in zip(members, members[1:], strict=False):
            if before.setting("position") < after.setting("position"):
                yield after, before


FAMILY = Differences()
