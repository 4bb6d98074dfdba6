"""The questions what single prompts say about models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    ChosenScores,
    OneBenchmark,
    Seed,
    SelectedAtLevel,
)
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Items(ChosenScores, OneBenchmark, Question):
    """Difficulty and discrimination of every prompt that two models have a score of.

    Raises:
        MisuseError: an unknown name or model, or fewer than two models or prompts.
    """

    NAME = "items"
    COMMAND = "items difficulty"

    _: KW_ONLY
    irt: Annotated[
        str | None,
        Option(
            "Item response model. [default: 2pl from 20 models on, else 1pl]",
            choices=("1pl", "2pl", "none"),
        ),
    ] = None


@dataclass(frozen=True)
class ItemSplits(ChosenScores, OneBenchmark, Question):
    """Discrimination of prompts on some models against that on others.

    Raises:
        MisuseError: an unknown name, fewer than six models or two prompts.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "item_splits", "pruning:item_splits"
    COMMAND = "items difficulty --splits"

    _: KW_ONLY
    n_splits: Annotated[
        int,
        Option(
            "Random splits beside the one by difficulty.", least=1, in_python_only=True
        ),
    ] = 20
    seed: Seed = 0


@dataclass(frozen=True)
class ItemPruning(ChosenScores, OneBenchmark, Question):
    """What dropping the least discriminating prompts does to other models, beside
    random drops.

    Monotonicity takes training runs with at least three checkpoints, signal-to-noise
    recipes whose last checkpoints have several seeds; where other models suffice, these
    are in neither side of the splits.

    Raises:
        MisuseError: an unknown name, fewer than six models or two prompts.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "item_pruning", "pruning:item_pruning"
    COMMAND = "items difficulty --pruning"

    _: KW_ONLY
    shares: Annotated[
        Sequence[float],
        Option(
            "Of the prompts to drop.",
            least=0,
            most=1,
            is_open=(False, True),
            in_python_only=True,
        ),
    ] = (0.0, 0.05, 0.1, 0.15, 0.2)
    n_random: Annotated[
        int, Option("Random drops for each share.", least=1, in_python_only=True)
    ] = 100
    seed: Seed = 0


@dataclass(frozen=True)
class ItemFeatures(SelectedAtLevel, OneBenchmark, Question):
    """What goes with difficulty and discrimination of prompts: length, options,
    position of the right answer, fields.

    Raises:
        MisuseError: an unknown name, feature or clustering, fewer than two models or
            prompts, nothing to compare.
    """

    NAME, ANSWER = "item_features", "features:item_features"
    COMMAND = "items difficulty --features"

    _: KW_ONLY
    by: Annotated[
        Sequence[str],
        Option(
            "Features: length, words, options, position, has:TEXT, metadata.FIELD. "
            "Repeatable. [default: all but words and has: that can be compared]",
            "FEATURE,...",
        ),
    ] = ()
