"""The questions what a score, or the difference of two, would be with other settings of
their kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.compare.question import TwoConditions
from warehouse.analysis.variance.question import OfTarget
from warehouse.errors import MisuseError
from warehouse.questions.options import ByMetric, Cluster, Level
from warehouse.questions.question import Option, Options, Question

#: Settings that somebody chose: other values are no sample of their kind.
CHOSEN = {
    *("temperature", "top_p", "top_k", "max_tokens", "max_gen_toks", "fewshot"),
    *("agent", "language", "formulation", "reasoning_effort", "metric"),
}
#: What people call settings, and how they are stored.
ALIASES = {
    "shots": "fewshot",
    "n_shot": "fewshot",
    "seed": "training_seed",
    "lab": "source",
}


@dataclass(frozen=True)
class OverFacets(Options):
    """Which settings are a sample of their kind, and which are averaged over."""

    _: KW_ONLY
    over: Annotated[
        Sequence[str],
        Option(
            "Settings that are a sample of their kind, at most three: template, judge, "
            "fewshot_draw, perturbation, harness, or any other setting of the runs.",
            "SETTING,...",
        ),
    ] = ()
    fixed: Annotated[
        Sequence[str],
        Option("Settings that are averaged over and are all there are.", "SETTING,..."),
    ] = ()
    two_levels: Annotated[
        bool,
        Option(
            "Count a setting of two values too: intervals become 3 to 12 times as wide."
        ),
    ] = False
    as_sampled: Annotated[
        bool,
        Option(
            "Take what somebody chose (temperature, shots, agent) for a sample too."
        ),
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = [name for name in facet_names(self.over) if name in CHOSEN]
        if chosen and not self.as_sampled:
            raise MisuseError(
                f"{', '.join(chosen)} was chosen, and its values are no sample of what "
                "could have been; average over it (--fixed), or say that they are: "
                "--as-sampled"
            )
        both = sorted({*facet_names(self.over)} & {*facet_names(self.fixed)})
        if both:
            raise MisuseError(
                f"{', '.join(both)}: give it to one of --over and --fixed"
            )


def facet_names(given: Sequence[str]) -> tuple[str, ...]:
    """Names as settings have them: ``judges`` is ``judge``, ``shots`` is ``fewshot``."""
    if isinstance(given, str):
        given = (given,)
    found = []
    for told in _listed(given):
        if told.endswith("s") and told not in ALIASES and told[:-1] in _PLURALS:
            told = told[:-1]
        found.append(ALIASES.get(told, told))
    return tuple(dict.fromkeys(found))


def wanted_facets(asked: OverFacets) -> tuple[str, ...]:
    """The settings that are random (MisuseError: none is named)."""
    over = facet_names(asked.over)
    if not over:
        raise MisuseError(
            "name the settings that are a sample of their kind: --over template, judge, "
            "or any setting in which runs of a model differ"
        )
    return over


def _listed(given: Sequence[str]) -> list[str]:
    """Names that stand with commas in one text."""
    names = []
    for text in given:
        names += [name.strip() for name in text.split(",") if name.strip()]
    return names


#: Settings that people name in the plural.
_PLURALS = {
    *("template", "judge", "perturbation", "fewshot_draw", "harness", "backend"),
    *("seed", "training_seed", "source", "lab", "agent", "language", "order"),
}


@dataclass(frozen=True)
class TotalError(OverFacets, OfTarget, Question):
    """A score with the error that counts other settings too: other templates, judges or
    backends of their kind.

    Of each model one row for what is neither ``over`` nor ``fixed``. The interval needs
    three values of a setting; with fewer it is named as not in the error. It is as good
    as the values are like those that were not run: say "templates like these".

    Raises:
        MisuseError: an unknown name, a setting that is not told or does not vary, one
            that was chosen, or nothing with scored prompts.
        StatisticsError: ``level`` or ``half_width`` out of range.
    """

    NAME, ANSWER = "total_error", "answer:total_error_of"
    COMMAND = "noise total"

    _: KW_ONLY
    judges: Annotated[
        Sequence[str],
        Option(
            "With judge: these, by scorer, model or metric. Repeatable. Default: all "
            "models that judge.",
            "NAME",
            ("--judge",),
        ),
    ] = ()
    half_width: Annotated[
        float | None,
        Option(
            "Also look for the fewest answers that make the interval ± this.",
            "W",
            least=0.0,
            is_open=(True, False),
        ),
    ] = None
    cluster: Cluster = None
    level: Level = 0.95


@dataclass(frozen=True)
class TotalDifference(OverFacets, ByMetric, TwoConditions, Question):
    """The difference of two models with the error that counts other settings too, on
    the prompts and settings that both have.

    What a setting does to both cancels; what stays is how differently it moves them.

    Raises:
        MisuseError: an unknown reference, nothing in common, or a setting that is not
            told or does not vary.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "total_difference", "difference:total_difference_of"
    COMMAND = "compare"

    _: KW_ONLY
    cluster: Cluster = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted_facets(self)
