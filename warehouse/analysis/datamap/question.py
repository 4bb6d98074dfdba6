"""The question which prompts are right, and consistent, over many generations."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated

from warehouse.questions.options import (
    REFERENCE,
    ByMetric,
    Level,
    ShareDone,
    StoreResult,
)
from warehouse.questions.question import Option, Options, Question
from warehouse.questions.text_models import Embedder, Entailment

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class _Grouped(Options):
    """How generations are put into semantic sets, and which prompts are suspects."""

    group: Annotated[
        str | None,
        Option(
            "Which generations say the same; default: by extracted answer, else by "
            "text.",
            choices=("answer", "text", "embedding", "entailment"),
        ),
    ] = None
    embedder: Annotated[
        str | Embedder | None, Option("For --group embedding: folder or name.", "MODEL")
    ] = None
    threshold: Annotated[
        float,
        Option(
            "For --group embedding: from where on alike.",
            "COSINE",
            least=-1,
            most=1,
            is_open=(True, False),
        ),
    ] = 0.9
    entailment: Annotated[
        str | Entailment | None,
        Option("For --group entailment: an NLI model.", "FOLDER"),
    ] = None
    device: Annotated[
        str | None, Option("Of these models: cpu, cuda, mps.", "NAME")
    ] = None
    correct_at: Annotated[
        float | None,
        Option(
            "Score from which on a generation is correct; default: the metric's best.",
            "VALUE",
        ),
    ] = None
    # thresholds of a suspected label error: Zhang et al. 2025, §4
    max_p: Annotated[
        float,
        Option(
            "Suspected are prompts with at most this P(correct) ...",
            "P",
            least=0,
            most=1,
        ),
    ] = 0.1
    min_s: Annotated[
        float, Option("... and at least this S(consistency).", "S", most=0)
    ] = -0.8
    interval: Annotated[
        str,
        Option(
            "Of P(correct), for so many generations.",
            choices=("wilson", "jeffreys", "clopper_pearson"),
            keeps_underscores=True,
        ),
    ] = "wilson"
    fresh: Annotated[bool, Option("Ask the model even where its answer is stored.")] = (
        False
    )
    store_result: StoreResult = True
    level: Level = 0.95


@dataclass(frozen=True)
class _OfModel(Options):
    """A model, on a benchmark or on all."""

    reference: Annotated[
        str, Option("Reference of a model, or run:ID.", f"run:ID|{REFERENCE}")
    ]
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option(
            "Default: every benchmark that the model has.",
            "NAME",
            ("-b", "--benchmark"),
        ),
    ] = None


@dataclass(frozen=True)
class MapPrompts(_Grouped, ByMetric, _OfModel, Question):
    """P(correct) and S(consistency) of every prompt with several generations.

    Generations are those in headline form, pooled over the repeats of a condition. They
    are one semantic set by the same extracted answer (``answer``), the same normalised
    response (``text``), vectors that are at least ``threshold`` similar
    (``embedding``), or where each follows from the other (``entailment``). The last two
    compare extracted answers where there are any, else responses. What a model groups
    is stored, and read back while runs and model stay the same.

    Raises:
        MisuseError: unknown names, no prompt with several generations, a metric without
            a best value, contradictory or missing options.
        InputError: a model that cannot be loaded.
        StatisticsError: a number out of range.
    """

    NAME, OPENS = "datamap", True
    COMMAND = "items datamap"

    _: KW_ONLY
    progress: ShareDone = None
