"""What a refresh has to do: questions of all families, which answers are out of date,
and figures as rows.

A figure's fingerprint is ``family/version/question/data/settings``, the last three as
hashes. A stored answer is fresh if it bears the fingerprint that its question has now.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.analysis.families import choose_families, family_names
from warehouse.analysis.families.benchmark_data import BenchmarkData, SuiteBenchmarks
from warehouse.analysis.families.family import (
    GONE,
    Family,
    FamilySettings,
    RefreshQuestion,
    Value,
)
from warehouse.errors import WarehouseError
from warehouse.records.canonical_json import short_digest

_LENGTH = 20
#: What tells one stored figure from another.
KEY = ("subject_kind", "subject", "benchmark", "metric", "statistic")
_NUMBERS = ("estimate", "standard_error", "low", "high")

StoredValue = Mapping[str, Any]


@dataclass(frozen=True)
class PlannedQuestion:
    """A question on a benchmark."""

    family: Family
    data: BenchmarkData
    question: RefreshQuestion
    fingerprint: str  #: that its answer gets.
    why: str  #: why it has to be asked: ``new``, or what has changed; empty where nothing has.

    @property
    def name(self) -> str:
        """What names the question in every fingerprint."""
        return question_of(self.fingerprint)


@dataclass(frozen=True)
class RefreshPlan:
    """The questions that there are, and those to be answered."""

    #: all, fresh and stale, benchmark by benchmark.
    questions: tuple[PlannedQuestion, ...]
    stored: Mapping[str, tuple[StoredValue, ...]]  #: current figures by question.
    resumed: frozenset[str]  #: questions that an unfinished refresh has answered.
    #: fingerprints in it that are not true any more, or not asked for now.
    outdated: tuple[str, ...]
    #: current figures whose question nobody asks any more.
    gone: tuple[StoredValue, ...]
    #: families that could not say what they ask, with the reason.
    failures: tuple[str, ...]

    @property
    def stale(self) -> list[PlannedQuestion]:
        """Questions that have to be asked."""
        return [
            question
            for question in self.questions
            if question.why and question.name not in self.resumed
        ]


def question_of(fingerprint: str) -> str:
    """``family/question``: what stays the same while data, settings and version change."""
    parts = fingerprint.split("/")
    if len(parts) == 5:
        return f"{parts[0]}/{parts[2]}"
    return fingerprint


def family_of(fingerprint: str) -> str:
    """Name of the family of a figure."""
    return fingerprint.partition("/")[0]


def inputs_of(fingerprint: str) -> str:
    """Digest of the data that a figure was computed from."""
    parts = fingerprint.split("/")
    if len(parts) == 5:
        return parts[3]
    return fingerprint


def make_plan(
    families: Sequence[Family],
    benchmarks: Sequence[BenchmarkData],
    settings: FamilySettings,
    current: Sequence[StoredValue],
    unfinished: Sequence[StoredValue],
    named: Collection[str] | None = None,
) -> RefreshPlan:
    """Compare what is stored with what should be.

    Args:
        current: rows of ``metric_current``.
        unfinished: rows of a refresh that was killed.
        named: names of the only benchmarks that are meant, also without runs; None:
            all.
    """
    stored: dict[str, list[StoredValue]] = defaultdict(list)
    for value in current:
        stored[question_of(value["input_fingerprint"])].append(value)
    questions: list[PlannedQuestion] = []
    failures: list[str] = []
    failed: set[tuple[str, str]] = set()
    for data in benchmarks:
        for family in families:
            if isinstance(data, SuiteBenchmarks) and not getattr(
                family, "takes_suites", False
            ):
                continue
            try:
                own = family.questions(data, settings)
            except Exception as error:  # a plug-in may raise anything; the others go on
                failures.append(
                    f"{family.name} on {data.benchmark.name}: {_first_line(error)}"
                )
                failed.add((family.name, data.benchmark.name))
                continue
            questions += [
                _question(family, data, own_question, stored) for own_question in own
            ]
    fingerprints = {question.fingerprint for question in questions}
    chosen = {family.name for family in families}
    mine = {row["input_fingerprint"] for row in unfinished}
    done = mine & fingerprints
    names = {question.name for question in questions}

    def is_gone(value: StoredValue) -> bool:
        family = family_of(value["input_fingerprint"])
        is_chosen = family in chosen and (family, value["benchmark"]) not in failed
        here = named is None or value["benchmark"] in named
        return (
            is_chosen and here and question_of(value["input_fingerprint"]) not in names
        )

    return RefreshPlan(
        questions=tuple(questions),
        stored={name: tuple(values) for name, values in stored.items()},
        resumed=frozenset(question_of(fingerprint) for fingerprint in done),
        outdated=tuple(sorted(mine - done)),
        gone=tuple(value for value in current if is_gone(value)),
        failures=tuple(failures),
    )


def _question(
    family: Family,
    data: BenchmarkData,
    question: RefreshQuestion,
    stored: Mapping[str, Sequence[StoredValue]],
) -> PlannedQuestion:
    hashes = (
        short_digest(data.benchmark.name, question.subject)[:_LENGTH],
        data.inputs(question.conditions)[:_LENGTH],
        short_digest(question.settings)[:_LENGTH],
    )
    fingerprint = "/".join((family.name, family.version, *hashes))
    before = {
        row["input_fingerprint"] for row in stored.get(question_of(fingerprint), ())
    }
    return PlannedQuestion(
        family, data, question, fingerprint, _why(fingerprint, before)
    )


def _why(now: str, before: set[str]) -> str:
    if not before:
        return "new"
    if before == {now}:
        return ""
    old, new = min(before - {now}).split("/"), now.split("/")
    reasons = []
    if old[1] != new[1]:
        reasons.append(f"version {old[1]} of the method, now {new[1]}")
    if old[3] != new[3]:
        reasons.append("the data changed")
    if old[4] != new[4]:
        reasons.append("the settings changed")
    return ", ".join(reasons)


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    if not text:
        return type(error).__name__
    return f"{type(error).__name__}: {text.splitlines()[0]}"


#: Reasons that do not mean that a stored figure is wrong.
_HARMLESS = ("", "new", "the settings changed")


def notes_on_others(
    chosen: Sequence[Family],
    benchmarks: Sequence[BenchmarkData],
    settings: FamilySettings,
    current: Sequence[StoredValue],
    named: Collection[str] | None,
) -> Iterator[str]:
    """A line for each family that is not chosen and has figures which do not hold any
    more.

    Args:
        current: rows of ``metric_current``.
        named: names of the only benchmarks that are meant; None: all.
    """
    mine = {family.name for family in chosen}
    figures = Counter(
        name
        for row in current
        if (named is None or row["benchmark"] in named)
        and (name := family_of(row["input_fingerprint"])) not in mine
    )
    installed = family_names()
    for name, count in sorted(figures.items()):
        if name not in installed:
            yield (
                f"{count} figures of the family {name!r} stay as they are: it is not "
                "installed"
            )
            continue
        try:
            plan = make_plan(
                choose_families([name]), benchmarks, settings, current, [], named
            )
        except WarehouseError as error:
            yield f"{count} figures stay as they are: {error}"
            continue
        stale = sum(question.why not in _HARMLESS for question in plan.questions)
        # pairs depend on which baselines are named
        stale += sum(row["subject_kind"] != "pair" for row in plan.gone)
        if stale:
            yield (
                f"{stale} answers of the family {name!r} are out of date; --family "
                f"{name}"
            )


def computed(question: PlannedQuestion, settings: FamilySettings) -> Sequence[Value]:
    """The figures; a reason where these data do not allow any."""
    try:
        values = question.family.compute(question.data, question.question, settings)
    except WarehouseError as error:
        name, kind = question.question.subject, "question"
        return [Value(kind, name, "", question.family.name, "none", reason=str(error))]
    if not values:
        raise ValueError("no figure and no reason: a family has to say one of them")
    finite = [_finite(value) for value in values]
    for value in finite:
        json.dumps(
            dict(value.details), allow_nan=False
        )  # else this question has failed
    return finite


def _finite(value: Value) -> Value:
    """Without numbers that are none."""
    details = {
        name: None
        if isinstance(detail, float) and not math.isfinite(detail)
        else detail
        for name, detail in value.details.items()
    }
    value = replace(value, details=details)
    bad = {
        name: None
        for name in _NUMBERS
        if (number := getattr(value, name)) is not None and not math.isfinite(number)
    }
    if not bad:
        return value
    reason = "; ".join(filter(None, (value.reason, f"not finite: {', '.join(bad)}")))
    return replace(value, reason=reason, **bad)  # type: ignore[arg-type]


def row_of(question: PlannedQuestion, value: Value) -> dict[str, Any]:
    """The row of a figure, but for the id of its refresh."""
    own = {
        name: getattr(value, name)
        for name in value.__dataclass_fields__
        if name != "details"
    }
    numbers = {
        name: None if own[name] is None else float(own[name]) for name in _NUMBERS
    }
    return {
        **own,
        **numbers,
        "benchmark": question.data.benchmark.name,
        "method_version": question.family.version,
        "parameters": value.details,
        "input_fingerprint": question.fingerprint,
    }


def gone_row(value: StoredValue, fingerprint: str) -> dict[str, Any]:
    """The row that says that a stored figure is no longer there."""
    return {
        **{name: value[name] for name in (*KEY, "method_version")},
        **dict.fromkeys((*_NUMBERS, "n", "n_clusters")),
        "method": GONE,
        "reason": "not asked for any more, or its runs are gone",
        "parameters": {},
        "input_fingerprint": fingerprint,
    }


def key_of_row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Key of the figure in a row."""
    return tuple(row[name] for name in KEY)
