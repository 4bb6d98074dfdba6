"""What a refresh has to do: the questions of all families, and which answers are out of date.

A figure's fingerprint is ``family/version/question/data/settings``, the last three as hashes. A
stored answer is fresh if it bears the fingerprint that its question has now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.families.benchmark_data import BenchmarkData, SuiteBenchmarks
from warehouse.analysis.families.family import Family, RefreshQuestion, Settings
from warehouse.records.hashing import short_digest

_LENGTH = 20
#: What tells one stored figure from another.
KEY = ("subject_kind", "subject", "benchmark", "metric", "statistic")

StoredValue = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question on a benchmark.

    Attributes:
        fingerprint: that its answer gets.
        why: why it has to be asked: ``new``, or what has changed; empty where nothing has.
    """

    family: Family
    data: BenchmarkData
    asked: RefreshQuestion
    fingerprint: str
    why: str

    @property
    def name(self) -> str:
        """What names the question in every fingerprint."""
        return question_of(self.fingerprint)


@dataclass(frozen=True)
class Plan:
    """What there is and what is to be done.

    Attributes:
        questions: all, fresh and stale, benchmark by benchmark.
        stored: current figures by question.
        resumed: questions that an unfinished refresh has answered.
        outdated: fingerprints in it that are not true any more, or not asked for now.
        gone: current figures whose question nobody asks any more.
        failures: families that could not say what they ask, with the reason.
    """

    questions: tuple[Question, ...]
    stored: Mapping[str, tuple[StoredValue, ...]]
    resumed: frozenset[str]
    outdated: tuple[str, ...]
    gone: tuple[StoredValue, ...]
    failures: tuple[str, ...]

    @property
    def stale(self) -> list[Question]:
        """Questions that have to be asked."""
        return [one for one in self.questions if one.why and one.name not in self.resumed]


def question_of(fingerprint: str) -> str:
    """``family/question``: what stays the same while data, settings and version change."""
    parts = fingerprint.split("/")
    return f"{parts[0]}/{parts[2]}" if len(parts) == 5 else fingerprint


def family_of(fingerprint: str) -> str:
    """Name of the family of a figure."""
    return fingerprint.partition("/")[0]


def make_plan(
    families: Sequence[Family],
    benchmarks: Sequence[BenchmarkData],
    settings: Settings,
    current: Sequence[StoredValue],
    unfinished: Sequence[StoredValue],
    named: Collection[str] | None = None,
) -> Plan:
    """Compare what is stored with what should be.

    Args:
        current: rows of ``metric_current``.
        unfinished: rows of a refresh that was killed.
        named: names of the only benchmarks that are meant, also without runs; None: all.
    """
    stored: dict[str, list[StoredValue]] = defaultdict(list)
    for value in current:
        stored[question_of(value["input_fingerprint"])].append(value)
    questions: list[Question] = []
    failures: list[str] = []
    failed: set[tuple[str, str]] = set()
    for data in benchmarks:
        for family in families:
            if isinstance(data, SuiteBenchmarks) and not getattr(family, "takes_suites", False):
                continue
            try:
                own = family.questions(data, settings)
            except Exception as error:  # a plug-in may raise anything; the others go on
                failures.append(f"{family.name} on {data.benchmark.name}: {_first_line(error)}")
                failed.add((family.name, data.benchmark.name))
                continue
            questions += [_question(family, data, asked, stored) for asked in own]
    wanted = {one.fingerprint for one in questions}
    chosen = {family.name for family in families}
    mine = {one["input_fingerprint"] for one in unfinished}
    done = mine & wanted
    names = {one.name for one in questions}

    def is_gone(value: StoredValue) -> bool:
        family = family_of(value["input_fingerprint"])
        is_asked = family in chosen and (family, value["benchmark"]) not in failed
        here = named is None or value["benchmark"] in named
        return is_asked and here and question_of(value["input_fingerprint"]) not in names

    return Plan(
        questions=tuple(questions),
        stored={name: tuple(values) for name, values in stored.items()},
        resumed=frozenset(question_of(one) for one in done),
        outdated=tuple(sorted(mine - done)),
        gone=tuple(value for value in current if is_gone(value)),
        failures=tuple(failures),
    )


def _question(
    family: Family, data: BenchmarkData, asked: RefreshQuestion, stored: Mapping[str, Sequence[StoredValue]]
) -> Question:
    hashes = (
        short_digest(data.benchmark.name, asked.subject)[:_LENGTH],
        data.inputs(asked.conditions)[:_LENGTH],
        short_digest(asked.settings)[:_LENGTH],
    )
    fingerprint = "/".join((family.name, family.version, *hashes))
    before = {one["input_fingerprint"] for one in stored.get(question_of(fingerprint), ())}
    return Question(family, data, asked, fingerprint, _why(fingerprint, before))


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
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
