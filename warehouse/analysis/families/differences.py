"""Family ``differences``: paired, with named baselines and from one checkpoint to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from warehouse.analysis.comparison.pairing import NotComparable, Pair, pair_up
from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import FamilySettings, RefreshQuestion, Value, pair_of
from warehouse.analysis.selection.conditions import Condition
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS
from warehouse.stats.core.inputs import is_constant
from warehouse.stats.paired.gate import p_of_constant

if TYPE_CHECKING:
    from warehouse.stats import PairedDifference


def difference_of(data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings) -> Value:
    """The difference by the first metric that both are judged by (NotComparable: nothing in common)."""
    pair = _pair(data, *question.conditions)
    paired = pair.difference(settings.level)
    return Value(
        question.settings["kind"],
        pair_of(pair.a, pair.b),
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
            "flags": list(paired.flags),
        },
    )


def _p_worse(pair: Pair, paired: PairedDifference) -> float | None:
    """One-sided p of "not worse than the other"; exact where all prompts differ alike."""
    if pair.metric.higher_is_better is None:
        return None
    loss = paired.difference if pair.metric.higher_is_better is False else -paired.difference
    if paired.p_value is not None:
        return paired.p_value / 2 if loss > 0 else 1 - paired.p_value / 2
    width = pair.score_range
    if width is None or not is_constant(pair.differences) or abs(loss) > width:
        return None
    return p_of_constant(-loss, len(set(pair.units.tolist())), 0.0, width)[1]


def _pair(data: BenchmarkData, first: str, second: str) -> Pair:
    """Both on the first metric of one judge that both have scores by."""
    a, b = ([entry for entry in data.entries((key,)) if entry.usable is not None] for key in (first, second))
    for left in a:
        for other in b:
            if left.metric.label == other.metric.label and left.metric.scale == other.metric.scale:
                return pair_up(
                    left.condition,
                    other.condition,
                    left.metric,
                    data.linked(left),
                    data.linked(other),
                    data.linked_clusters,
                )
    raise NotComparable("no metric of one scale and judge that both have scored prompts by")


class Differences:
    """One question for each condition and baseline, and for each checkpoint with one before it."""

    name, version = "differences", "5"

    def questions(self, data: BenchmarkData, settings: FamilySettings) -> Sequence[RefreshQuestion]:
        """Pairs of one split and task version; of a baseline's conditions the newest counts."""
        relevant = {"level": settings.level, "links": data.links_digest}
        questions: dict[str, RefreshQuestion] = {}
        for kind, first, second in [*_with_baselines(data), *_steps(data)]:
            name = f"{kind} {pair_of(first, second)}"
            questions[name] = RefreshQuestion(name, (first.key, second.key), relevant | {"kind": kind})
        return list(questions.values())

    def compute(self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings) -> Sequence[Value]:
        """The difference by the first metric that both are judged by, or why there is none."""
        try:
            return [difference_of(data, question, settings)]
        except NotComparable as error:
            pair = pair_of(*(data.conditions[key] for key in question.conditions))
            return [Value(question.settings["kind"], pair, "", "difference", "none", reason=str(error))]


def _alike(condition: Condition, other: Condition) -> bool:
    """Whether two conditions can be compared as the leaderboard ranks them."""
    names = ("split", "task_version")
    return all((condition.setting(name) or "") == (other.setting(name) or "") for name in names)


def _with_baselines(data: BenchmarkData) -> Iterator[tuple[str, Condition, Condition]]:
    for keys in data.baselines.values():
        own = [data.conditions[key] for key in data.conditions if key in keys]
        for condition in data.conditions.values():
            like = [candidate for candidate in own if _alike(candidate, condition) and candidate is not condition]
            if like and condition.key not in keys:
                yield "pair", condition, max(like, key=lambda candidate: candidate.newest)


def _steps(data: BenchmarkData) -> Iterator[tuple[str, Condition, Condition]]:
    """Each checkpoint with the one before it in the same training, all else being equal."""
    trainings: dict[tuple[object, ...], list[Condition]] = {}
    for condition in data.conditions.values():
        if condition.setting("position") is not None:
            same = [condition.setting(name) for name in LABEL_FIELDS if name not in CHECKPOINT_FIELDS]
            unit = condition.setting("position_unit")
            trainings.setdefault((condition.model, unit, *same), []).append(condition)
    for members in trainings.values():
        members.sort(key=lambda member: member.setting("position"))
        for before, after in zip(members, members[1:], strict=False):
            if before.setting("position") < after.setting("position"):
                yield "step", after, before


FAMILY = Differences()
