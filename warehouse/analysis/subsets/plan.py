"""A plan: which prompts of a benchmark to ask, drawn before any of them was asked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import Row, StoredResult, plain
from warehouse.errors import InputError
from warehouse.files import PLAN, write_output
from warehouse.records.canonical_json import canonical_digest, sha256_of
from warehouse.records.own_files import own_text
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.subsets.design import (
    SubsetDesign,
    n_strata,
    prediction_order,
    rounded,
    runs_of,
    smallest_hashes,
)
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import number

SCHEMA = "warehouse-subset-plan/1"
SUITE_SCHEMA = "warehouse-subset-plans/1"


@dataclass(frozen=True)
class PlanPrompt(Row):
    """A prompt of the benchmark."""

    id: str  #: its key in the warehouse, with ``#N`` where a text stands there for the Nth time again.
    tool_id: str  #: its id in the dumps, as the harness calls it.
    prediction: float  #: f, the score that history lets expect.
    stratum: int  #: number of its stratum, from 0 along the prediction.
    selected: bool  #: whether it is to be asked.
    inclusion: float  #: π = n_h/N_h.


@dataclass(frozen=True)
class SubsetPlan(StoredResult):
    """Which prompts of one benchmark to ask (statistics.md §10)."""

    notebook_columns: ClassVar[tuple[str, ...]] = ()
    schema: str  #: of the file.
    benchmark: str  #: its name.
    task: str  #: name of the benchmark in the dumps, as the harness calls it.
    split: str  #: part of it.
    revision: str  #: version of its data, of those runs that say; empty if none does.
    task_version: str  #: version of the task.
    harness: str  #: tools behind the history, with commas between.
    ids_sha256: str  #: of the sorted ids of all prompts, one a line.
    n_prompts: int  #: N.
    size: int  #: m.
    seed: int  #: of ties and draws.
    metric: str  #: name of the metric, with its filter.
    low: float | None  #: smallest possible score, None if there is none.
    high: float | None  #: largest.
    higher_is_better: bool | None  #: direction; None if unknown.
    history: tuple[str, ...]  #: the models behind the prediction.
    history_sha256: str  #: of their scores.
    baseline: str  #: the model that the sample is to be compared with; empty if none.
    suite: str  #: the suite that it was planned with; empty if none.
    created_at: str  #: when, ISO 8601 in UTC.
    extends: str  #: key of the plan that it extends; empty if none.
    #: expected width of the interval (median of stored models, each left out).
    width: float | None
    #: expected gain over a simple random sample, in variance (likewise).
    gain: float | None
    gain_least: float | None  #: 90 % of stored models gain more.
    n_left_out: int  #: stored models behind these.
    level: float  #: of the interval.
    notes: tuple[str, ...]  #: what a reader should know.
    rows: tuple[PlanPrompt, ...]  #: all N prompts.

    @cached_property
    def key(self) -> str:
        """The name of the plan: the first eight digits of the hash of what it draws."""
        drawn = [
            self.benchmark,
            self.split,
            self.metric,
            self.ids_sha256,
            self.seed,
            self.history_sha256,
        ]
        return canonical_digest(
            [*drawn, [[row.id, row.stratum, row.selected] for row in self.rows]]
        )[:8]

    @property
    def created(self) -> datetime:
        """When it was made, naive UTC."""
        return datetime.fromisoformat(self.created_at)

    @property
    def selected(self) -> NDArray[np.bool_]:
        """A mask of the prompts that are asked, shape (N,)."""
        return np.array([row.selected for row in self.rows])

    @property
    def stratum(self) -> NDArray[np.intp]:
        """The stratum of each prompt, shape (N,)."""
        return np.array([row.stratum for row in self.rows], np.intp)

    @property
    def asked(self) -> tuple[PlanPrompt, ...]:
        """The prompts of the sample."""
        return tuple(row for row in self.rows if row.selected)

    @property
    def design(self) -> SubsetDesign:
        """As statistics take it."""
        f: FloatArray = np.array([row.prediction for row in self.rows])
        return SubsetDesign(
            tuple(row.id for row in self.rows),
            f,
            self.stratum,
            self.selected,
            self.seed,
        )

    def with_design(self, design: SubsetDesign, **changes: Any) -> SubsetPlan:
        """With another sample of the same prompts."""
        rows = tuple(
            replace(row, stratum=int(h), selected=bool(chosen), inclusion=float(share))
            for row, h, chosen, share in zip(
                self.rows,
                design.stratum,
                design.selected,
                design.inclusion,
                strict=True,
            )
        )
        return replace(self, rows=rows, size=design.size, **changes)

    @property
    def one_line(self) -> str:
        split = ""
        if self.split:
            split = f" ({self.split})"
        return (
            f"{self.size} of {self.n_prompts} prompts of {self.benchmark}{split}, plan "
            f"{self.key}"
        )


@dataclass(frozen=True)
class SubsetPlans(StoredResult):
    """The plans of a benchmark, or of the benchmarks of a suite."""

    suite: str  #: its name; empty for one benchmark.
    #: expected width of the interval of the mean over the benchmarks, all alike.
    width: float | None
    level: float  #: of the interval.
    rows: tuple[SubsetPlan, ...]  #: the plans.
    notes: tuple[str, ...]  #: what a reader should know of all of them.

    def view(self, *, verbose: bool = False, out: str | None = None) -> View:
        """The view: what to ask, how wide the interval will be, and each plan.

        Args:
            verbose: with strata and history, and what the gain is.
            out: file that has the plan.
        """
        table = Table.of(
            map(_cells, self.rows), hide_empty=("split", "against"), minor=_MINOR
        )
        parts: list[Part] = [
            f"Ask {self.one_line}.",
            _expected(self),
            "",
            table,
            "",
            _GAIN,
        ]
        if not verbose:
            brief = table.without(("strata", "history", "90 % gain"))
            head = (f"Ask {self.one_line}.", _expected_in_brief(self), *_worth(self))
            parts = [*head, "", brief, ""]
        if out is not None or not any(
            note.startswith("not stored") for note in self.notes
        ):
            parts.append(_next(self.rows[0], out))
        notes = list(self.notes)
        for plan in self.rows:
            notes += [f"{plan.benchmark}: {note}" for note in plan.notes]
        return View(tuple(parts), tuple(notes))

    def to_dict(self) -> dict[str, Any]:
        """As the file has it: one plan, or the list of them."""
        if not self.suite:
            return self.rows[0].to_dict()
        head = {
            "schema": SUITE_SCHEMA,
            "suite": self.suite,
            "width": self.width,
            "level": self.level,
        }
        return head | {
            "notes": list(self.notes),
            "plans": [plan.to_dict() for plan in self.rows],
        }

    @property
    def content(self) -> bytes:
        """The plan file."""
        return (
            json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
            + "\n"
        ).encode()

    def write(self, path: str | Path) -> None:
        """Write the plan file. It may replace another plan, but never any other file,
        which may be a dump that a store has read.

        Raises:
            MisuseError: it cannot be written there.
            DiskFullError: there is no room.
        """
        write_output(
            path, self.content, PLAN, advice="name another file, or remove it first"
        )

    @property
    def one_line(self) -> str:
        if not self.suite:
            return self.rows[0].one_line
        n = sum(plan.size for plan in self.rows)
        of = sum(plan.n_prompts for plan in self.rows)
        return f"{n} of {of} prompts of {len(self.rows)} benchmarks of {self.suite}"


#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("90 % gain", "history", "strata", "split", "against")
_GAIN = (
    "gain: variance of as many prompts at random over that of these, for stored "
    "models, each predicted by the others."
)


def _expected(plans: SubsetPlans) -> str:
    """How wide the interval will be."""
    models = plans.rows[0].n_left_out
    if plans.width is None:
        return (
            "No stored model has all prompts: how wide the interval will be is not "
            "known."
        )
    what = "figure of the whole benchmark"
    if plans.suite:
        what = f"mean over {len(plans.rows)} benchmarks"
    return (
        f"The {100 * plans.level:g} % interval of the {what} is then expected to be "
        f"{plans.width:.3g} wide, ±{plans.width / 2:.2g} (median of {models} stored "
        "models, each left out)."
    )


def _expected_in_brief(plans: SubsetPlans) -> str:
    """How well the score will be known."""
    if plans.width is None:
        return "How well the score will be known is not told: no stored model has all prompts."
    what = "The score of the whole benchmark"
    if plans.suite:
        what = f"The mean over {len(plans.rows)} benchmarks"
    half = f"±{plans.width / 2:.2g}"
    if all((plan.low, plan.high) == (0.0, 1.0) for plan in plans.rows):
        half = f"±{100 * plans.width / 2:.2g} points"
    models = plans.rows[0].n_left_out
    by = f"{models} stored models, each left out"
    if models == 1:
        by = "one stored model, left out"
    return f"{what} is then expected to be known to {half} ({100 * plans.level:g} %; by {by})."


def _worth(plans: SubsetPlans) -> list[str]:
    """Whether the plan is better than prompts at random, of a single benchmark."""
    gain = plans.rows[0].gain
    if len(plans.rows) != 1 or gain is None:
        return []
    if gain <= 1:
        return ["By these models as many prompts at random would do as well."]
    return [
        "By these models the error of as many prompts at random would be "
        f"{math.sqrt(gain):.2g} times as large."
    ]


def _cells(plan: SubsetPlan) -> dict[str, Any]:
    return {
        "benchmark": plan.benchmark,
        "split": plan.split,
        "plan": plan.key,
        "ask": plan.size,
        "of": plan.n_prompts,
        "strata": plan.design.n_strata,
        "history": len(plan.history),
        "against": plan.baseline,
        "width": number(plan.width, 4),
        "gain": number(plan.gain, 2),
        "90 % gain": number(plan.gain_least, 2),
    }


def _next(plan: SubsetPlan, out: str | None) -> str:
    """The command that gives the prompts to the harness which asked them before."""
    harnesses = {
        "lm_eval": "lm-eval",
        "inspect": "inspect",
        "helm": "helm",
        "lighteval": "lighteval",
    }
    to = next(
        (name for part, name in harnesses.items() if part in plan.harness.lower()),
        "csv",
    )
    return (
        f"Next: warehouse subset export {out or plan.key} --to {to}; after the run, "
        "ingest it as ever."
    )


def read_plans(path: Path) -> SubsetPlans:
    """The plan file of a benchmark or suite (InputError: no such file, or not a plan;
    says what was found)."""
    expected = f"a plan file as `warehouse subset plan --out` writes it ({SCHEMA})"
    try:
        document = json.loads(
            own_text(path, expected, most=500_000_000), parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise InputError(str(error), path=str(path), expected=expected) from None
    if not isinstance(document, dict):
        raise InputError(
            f"a {type(document).__name__}", path=str(path), expected=expected
        )
    several = document.get("schema") == SUITE_SCHEMA
    if several:
        parts = document.get("plans")
    else:
        parts = [document]
    if not isinstance(parts, list) or not parts:
        raise InputError("no plans", path=str(path), expected=expected)
    try:
        plans = tuple(checked_plan(part) for part in parts)
        suite = ""
        if several:
            suite = str(document["suite"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            str(error) or type(error).__name__, path=str(path), expected=expected
        ) from None
    width, level = (
        (document.get("width"), document.get("level", 0.95))
        if several
        else (plans[0].width, plans[0].level)
    )
    if several:
        notes = tuple(document.get("notes", ()))
    else:
        notes = ()
    return SubsetPlans(suite, width, level, plans, notes)


def checked_plan(stored: Mapping[str, Any]) -> SubsetPlan:
    """A plan from what a file holds.

    Raises:
        ValueError: another schema, fields that are missing or unknown, or prompts that
            are not those that the plan says; says which.
    """
    if stored.get("schema") != SCHEMA:
        raise ValueError(f"schema {stored.get('schema')!r}")
    names = {item.name for item in fields(SubsetPlan)}
    if missing := sorted(names - set(stored)):
        raise ValueError(f"no field {', '.join(missing)}")
    _check_types(SubsetPlan, stored, "")
    plan = SubsetPlan.from_dict(
        {name: stored[name] for name in stored if name in names}
    )
    ids = [row.id for row in plan.rows]
    if (
        len(ids) != plan.n_prompts
        or sum(row.selected for row in plan.rows) != plan.size
    ):
        raise ValueError(
            f"{len(ids)} prompts, {sum(row.selected for row in plan.rows)} selected: "
            "not those it says"
        )
    if hash_ids(ids) != plan.ids_sha256:
        raise ValueError(
            f"ids of hash {hash_ids(ids)[:8]}, where the plan says "
            f"{plan.ids_sha256[:8]}: it was changed"
        )
    numbers = list(
        chain.from_iterable((row.prediction, row.inclusion) for row in plan.rows)
    )
    are_finite = np.isfinite(np.array(numbers, float)).all()
    if not are_finite or len(set(ids)) < len(ids):
        raise ValueError("ids twice, or predictions that are not finite")
    if not plan.benchmark or not plan.metric or plan.seed < 0 or not 0 < plan.level < 1:
        raise ValueError(
            "no benchmark or metric, a seed below 0, or a level that is not in (0, 1)"
        )
    if plan.created.tzinfo is not None:
        raise ValueError(
            f"created_at {plan.created_at!r}, which is no time in UTC without a zone"
        )
    if (plan.low is None) != (plan.high is None) or not (plan.low or 0) <= (
        plan.high or 0
    ) < np.inf:
        raise ValueError(f"scores from {plan.low} to {plan.high}")
    _check_drawn(plan)
    return plan


def _check_types(kind: type, stored: Mapping[str, Any], prefix: str) -> None:
    """Check that the fields of a plan, or of one of its prompts, are of their types.

    Raises:
        ValueError: one is not; says which.
    """
    hints = _hints(kind)
    for item in fields(kind):
        if item.name == "rows":
            for number, row in enumerate(stored["rows"]):
                _check_types(PlanPrompt, row, f"rows[{number}].")
        elif not _is_of(stored[item.name], hints[item.name]):
            found = str(stored[item.name])[:40]
            raise ValueError(f"{prefix}{item.name} is {found!r}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_of(value: object, kind: Any) -> bool:
    if get_origin(kind) is UnionType:
        return any(_is_of(value, part) for part in get_args(kind))
    if get_origin(kind) is tuple:
        return isinstance(value, list) and all(
            _is_of(part, get_args(kind)[0]) for part in value
        )
    if kind is float:
        return type(value) in (int, float)
    return type(value) is kind


def _check_drawn(plan: SubsetPlan) -> None:
    """Check that strata and sample are what predictions and seed give (ValueError: they
    are not; says which)."""
    ids = [row.id for row in plan.rows]
    design = plan.design
    if len(set(rounded(design.prediction))) == 1:
        most = 1
    else:
        most = n_strata(plan.size)
    order = prediction_order(ids, design.prediction, plan.seed)
    runs = np.empty(len(ids), np.intp)
    strata = design.n_strata
    if not 1 <= strata <= most or (strata < most and not plan.extends):
        raise ValueError(
            f"{strata} strata, where {plan.size} prompts take {most}: it was changed"
        )
    runs[order] = runs_of(len(ids), strata)
    if not np.array_equal(runs, plan.stratum):
        raise ValueError(
            "strata that do not follow from its predictions and seed: it was changed"
        )
    if not np.array_equal(
        smallest_hashes(ids, runs, plan.size, plan.seed), plan.selected
    ):
        raise ValueError(
            "a sample that does not follow from its strata and seed: it was changed"
        )
    if np.abs(design.inclusion - [row.inclusion for row in plan.rows]).max() > 1e-9:
        raise ValueError(
            "probabilities that are not those of its strata: it was changed"
        )


def hash_ids(ids: Sequence[str]) -> str:
    """SHA-256 (hex) of the sorted ids, one a line."""
    return sha256_of("\n".join(sorted(ids)))


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number that a plan can hold")


def as_stored(plan: SubsetPlan) -> dict[str, Any]:
    """As the warehouse keeps it."""
    document: dict[str, Any] = plain(plan.to_dict())
    return document
