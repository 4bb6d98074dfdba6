"""Options that several questions have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from warehouse.questions.question import Option, Options
from warehouse.records.policy import Policy

#: How a run or model is named in every command.
REFERENCE = "MODEL[@REVISION|@step=N][+AGENT]"
PROMPTS_SAMPLED, PROMPTS_FIXED = "prompts_sampled", "prompts_fixed"

Reference = Annotated[
    str,
    Option(
        "Reference of a model, or run:ID.",
        REFERENCE,
        if_several="name one model here; pairs(BENCHMARK) compares all",
    ),
]
Cluster = Annotated[
    str | None,
    Option(
        "Clustering for the error bars; default: the benchmark's; none: without.",
        "NAME",
    ),
]
Level = Annotated[
    float,
    Option(
        "Confidence level of the intervals.", "P", least=0, most=1, is_open=(True, True)
    ),
]
#: Of a verdict that is a pass, a fail, or neither.
FalseVerdicts = Annotated[
    float,
    Option(
        "Chance of any false pass, and of any false fail.",
        "P",
        least=0,
        most=0.5,
        is_open=(True, True),
    ),
]
MaxUnscored = Annotated[
    float,
    Option(
        "More of the candidate's samples without a score: undecided.",
        "SHARE",
        least=0,
        most=1,
    ),
]
Force = Annotated[
    bool, Option("Compare what differs in judge, metric scale or task version.")
]
Seed = Annotated[
    int,
    Option("Of the random draws; the same seed gives the same answer.", "N", least=0),
]
#: What an answer may cost.
COSTS = ("dollars", "tokens", "seconds", "calls")
Prices = Annotated[
    str | None,
    Option(
        "Dollars by tokens and the prices of this file, or `stored`: by those of "
        "`warehouse list prices`; default: the cost that was recorded.",
        "FILE",
    ),
]
Fresh = Annotated[bool, Option("Compute again what is stored already.")]
StoreResult = Annotated[
    bool,
    Option("False for a trial: what is computed is not stored.", flags=("--no-store",)),
]
ShareDone = Annotated[
    Callable[[float], None] | None,
    Option(
        "Called with the share that is done, above 0 and at most 1.",
        in_python_only=True,
    ),
]
#: Share of samples without a score above which a figure may be that of the easy ones.
MAX_UNSCORED = 0.05
SubsetOk = Annotated[
    bool, Option("Rank runs on a part of the benchmark too.", flags=("--subset",))
]
Estimand = Annotated[
    str,
    Option(
        "What is random: the prompts as well, or the generations alone.",
        choices=(PROMPTS_SAMPLED, PROMPTS_FIXED),
    ),
]


#: What may stand apart in place of one row a model.
EACH_SEED, EACH_CHECKPOINT = "seed", "checkpoint"
#: What becomes of repeats of one condition: by their test, pooled as draws, counted
#: like seeds, or apart.
REPEATS_AUTO, REPEATS_POOL, REPEATS_AS_SEEDS, REPEATS_SPLIT = (
    "auto",
    "pool",
    "as_seeds",
    "split",
)
#: What the seed of a run is of.
SEEDS_TRAINING, SEEDS_SAMPLING = "training", "sampling"


@dataclass(frozen=True, kw_only=True)
class AsRows(Options):
    """What makes one row of a model: its training seeds at its last whole checkpoint,
    repeats as draws."""

    each: Annotated[
        str | None,
        Option(
            "Show training seeds, or seeds and checkpoints, apart; default: one row a "
            "model.",
            choices=(EACH_SEED, EACH_CHECKPOINT),
        ),
    ] = None
    repeats: Annotated[
        str,
        Option(
            "Runs of one condition: by a test whether they look like repeats, pooled "
            "as draws, counted like seeds, or apart.",
            choices=(REPEATS_AUTO, REPEATS_POOL, REPEATS_AS_SEEDS, REPEATS_SPLIT),
        ),
    ] = REPEATS_AUTO
    seeds_are: Annotated[
        str,
        Option(
            "What a seed of a run is of: of sampling, runs are draws of the same "
            "prompts.",
            choices=(SEEDS_TRAINING, SEEDS_SAMPLING),
        ),
    ] = SEEDS_TRAINING


@dataclass(frozen=True, kw_only=True)
class UnderPolicy(Options):
    """What unscored samples count as."""

    policy: Annotated[
        str | None,
        Option(
            "What unscored samples count as: attempts (limits, refusals, missing "
            "answers are wrong), all-wrong, or STATUS=wrong,...; default: missing.",
            "POLICY",
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.policy is not None:
            Policy.of(self.policy)  # a name that there is not is refused at once


#: Seeds of two rows that go together.
PairSeeds = Annotated[
    bool,
    Option(
        "Seeds of equal labels go together in both (one data order or few-shot draw), "
        "and are paired."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ByMetric(Options):
    """Which runs a question is about, and by which metric."""

    metric: Annotated[
        str | None,
        Option(
            "Metric, or METRIC,FILTER; default: the headline metric.",
            "NAME",
            ("-m", "--metric"),
        ),
    ] = None
    where: Annotated[
        Sequence[str],
        Option(
            "Only runs of which this holds; also FIELD!=VALUE; * and ? fit any. "
            "Repeatable.",
            "FIELD=VALUE",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class OfSomePrompts(ByMetric):
    """The same where conditions may be on prompts, of which the answer then is."""

    SOME_PROMPTS = True

    where: Annotated[
        Sequence[str],
        Option(
            "Only runs of which this holds; also FIELD!=VALUE; * and ? fit any. "
            "prompt.FIELD=VALUE: only such prompts. Repeatable.",
            "FIELD=VALUE",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ChosenScores(ByMetric):
    """The same where a name may fit several conditions."""

    latest: Annotated[
        bool, Option("Where a name fits several conditions, take the newest.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Selected(ChosenScores):
    """The same with what scores count as for the errors."""

    cluster: Cluster = None


@dataclass(frozen=True, kw_only=True)
class SelectedAtLevel(Selected):
    """The same with intervals."""

    level: Level = 0.95


@dataclass(frozen=True)
class OneBenchmark(Options):
    """One benchmark."""

    benchmark: Annotated[
        str, Option("Name of a benchmark with prompts of its own.", "BENCHMARK")
    ]


Benchmarks = Annotated[
    Sequence[str],
    Option(
        "Names, also of suites; default: all that have some.",
        "[BENCHMARK|SUITE]...",
        is_argument=True,
    ),
]


Trained = Annotated[str, Option("Reference of a trained model, or run:ID.", "MODEL")]
