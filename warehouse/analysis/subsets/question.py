"""The questions which prompts of a benchmark to ask, instead of all."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import ChosenScores, Level, Seed, StoreResult
from warehouse.questions.question import Option, Question

#: What the prompts of a plan can be written for.
HARNESSES = ("lm_eval", "inspect", "helm", "lighteval", "csv")


_Plan = Annotated[
    str | Path, Option("A plan file, or the key of a stored plan.", "PLAN")
]


_Now = Annotated[
    datetime | None,
    Option("When, naive UTC; None for the clock's time.", in_python_only=True),
]


@dataclass(frozen=True)
class PlanSubset(ChosenScores, Question):
    """Draw the prompts of a benchmark to ask, and store the plan.

    Asked on them alone, a model gets an unbiased estimate of its figure on the whole
    benchmark with a valid interval. The plan has to be made before a model is asked.
    There is one for each benchmark; ``write(path)`` writes the plan file.

    Raises:
        MisuseError: unknown names, none or several of ``size``, ``width`` and
            ``budget``, nothing that shows all prompts, a baseline that lacks scores.
        StatisticsError: a size out of range.
    """

    NAME, ANSWER = "subset_plan", "make:plan_subset"
    COMMAND = "subset plan"
    CHANGES_STORE = True
    OPENS = True

    benchmark: Annotated[
        str,
        Option(
            "Name of a benchmark, or of a suite: then each of its benchmarks gets a "
            "part.",
            "BENCHMARK|SUITE",
        ),
    ]
    _: KW_ONLY
    size: Annotated[int | None, Option("Prompts to ask.", "M")] = None
    width: Annotated[
        float | None,
        Option("Instead: as many as make the interval so wide, by history.", "W"),
    ] = None
    budget: Annotated[
        float | None, Option("Instead: what may be spent.", "GENERATIONS")
    ] = None
    draws: Annotated[int, Option("Generations for a prompt.", "K", least=1)] = 1
    against: Annotated[
        str | None,
        Option("A stored model, with all prompts, to be compared with.", "BASELINE"),
    ] = None
    level: Level = 0.95
    seed: Seed = 0
    store_result: StoreResult = True
    now: Annotated[
        datetime | None,
        Option(
            "When the plan is made, naive UTC; None for the clock's time.",
            in_python_only=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(one is not None for one in (self.size, self.width, self.budget)) != 1:
            raise MisuseError(
                "say how many prompts: one of --size, --width and --budget"
            )
        if self.budget is None:
            self.refuse("goes with {budget}: it says how far that goes", "draws")
        if self.width is not None and not 0 < self.width < math.inf:
            raise MisuseError(
                f"the width of an interval is a number above 0, found {self.width}"
            )
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise MisuseError(
                f"a budget is a number of generations above 0, found {self.budget}"
            )

    @property
    def n_requested(self) -> int | None:
        """Prompts to ask; None where the width says."""
        if self.budget is None:
            return self.size
        return int(self.budget // self.draws)


@dataclass(frozen=True)
class ExportSubset(Question):
    """The prompts of a plan as a harness takes them.

    Raises:
        MisuseError: an unknown plan or harness, or ids that this harness cannot take.
        InputError: a file that is no plan.
    """

    NAME, ANSWER = "subset_export", "exchange:export_subset"
    COMMAND = "subset export"

    plan: _Plan
    _: KW_ONLY
    to: Annotated[
        str,
        Option("The harness that is to run it.", flags=("--to",), choices=HARNESSES),
    ]


@dataclass(frozen=True)
class ImportSubset(Question):
    """Store the plans of a file from another warehouse, so that runs on them are
    recognised.

    The file is read as any other input: ids, strata and the sample have to be those
    that its hash, predictions and seed give.

    Raises:
        InputError: no such file, or no plan; says what was found.
        MisuseError: other bounds or another direction of the metric here, or a date to
            come.
    """

    NAME, ANSWER = "subset_import", "exchange:import_plans"
    COMMAND = "subset import"
    CHANGES_STORE = True
    OPENS = True

    path: Annotated[
        str | Path, Option("A plan file, as ``subset plan --out`` writes it.", "FILE")
    ]
    _: KW_ONLY
    as_dated: Annotated[
        bool,
        Option(
            "Take its date on trust: runs since then count, not only those from now on."
        ),
    ] = False
    now: _Now = None


@dataclass(frozen=True)
class ExtendSubset(Question):
    """The plan with more prompts: the next ones of the same order, in the same strata.

    Raises:
        MisuseError: a run on the plan is stored (its scores are known), a plan of
            several benchmarks, an unknown plan.
        StatisticsError: a size below that of the plan, or above that of the benchmark.
    """

    NAME, ANSWER = "subset_extend", "exchange:extend_plan"
    COMMAND = "subset extend"
    CHANGES_STORE = True
    OPENS = True

    plan: _Plan
    _: KW_ONLY
    size: Annotated[int, Option("Prompts in all.", "M", ("--size",))]
    now: _Now = None
