"""The questions that item response models answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    ByMetric,
    Fresh,
    Level,
    Seed,
    Selected,
    StoreResult,
)
from warehouse.questions.question import Option, Options, Question


@dataclass(frozen=True)
class ItemResponse(Selected, Question):
    """An item response model of all models' answers, missing ones allowed.

    It is asked by ``.fit()``, ``.abilities()`` and ``.next_items(model)``; nothing is
    read before.

    Raises:
        StatisticsError: another model; a MisuseError by its methods: unknown names,
            models that share no scale.
    """

    NAME, OPENS = "irt", True
    COMMAND = "irt fit"

    benchmarks: Annotated[
        Sequence[str], Option("Names of benchmarks and suites, globs among them.")
    ]
    _: KW_ONLY
    model: Annotated[
        str | None,
        Option(
            "Item response model. [default: 2pl from 20 models on, if enough prompts "
            "link them; else 1pl]",
            "1pl|2pl",
        ),
    ] = None
    fresh: Fresh = False
    store_result: StoreResult = True


@dataclass(frozen=True, kw_only=True)
class _ByFamily(Options):
    """Families of models."""

    family: Annotated[
        str | Mapping[str, str] | None,
        Option(
            "Families of models: a field of runs (developer, family), or a CSV file "
            "with the columns model and family. [default: what stands before the / of "
            "their names]",
            "FIELD|FILE",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FitItems(_ByFamily):
    """Difficulty, discrimination and fit of every prompt, and what differs between
    families of models.

    Families are also a dictionary from model to family.

    Raises:
        MisuseError: see :attr:`data`; models that share no scale; a 2PL that too few
            prompts link; an unknown field.
    """

    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Abilities(_ByFamily):
    """All models on one scale, with errors, rank sets and differences with the first.

    Raises:
        MisuseError: see :meth:`fit`.
    """

    sensitivity: Annotated[
        bool, Option("What the scale says without each benchmark and family instead.")
    ] = False
    level: Level = 0.95
    seed: Seed = 0


@dataclass(frozen=True)
class NextItems(Options):
    """The prompts to ask a model next, for its ability and rank; they give no score.

    Raises:
        MisuseError: see :meth:`fit`; an unknown model; nothing left to ask.
    """

    asked: Annotated[
        str,
        Option(
            "Name of a model with answers, or with --new of one without any.", "MODEL"
        ),
    ]
    _: KW_ONLY
    n: Annotated[int, Option("Prompts to name.", "N", ("-n",), least=1)] = 20
    new: Annotated[bool, Option("A model that has no answers yet.")] = False
    level: Level = 0.95
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Dimensions(Options):
    """How many dimensions the answers have, by what is predicted of models left out
    with all their settings.

    Raises:
        MisuseError: see :attr:`data`; models that answered different prompts.
        StatisticsError: fewer than 8 models, numbers out of range.
    """

    tries: Annotated[
        Sequence[int] | None,
        Option(
            "Numbers of dimensions. [default: 1, 2, 3, 5, 10, as far as there are "
            "models]",
            "N,N...",
            ("--try",),
        ),
    ] = None
    sizes: Annotated[
        Sequence[int] | None,
        Option(
            "Prompts that scores are estimated from. [default: 25, 50, 100; a fifth of "
            "fewer than 50]",
            "N,N...",
        ),
    ] = None
    seed: Seed = 0


@dataclass(frozen=True)
class PublishedScale(ByMetric, Question):
    """All models on one scale by their figures on whole benchmarks, published or of
    samples.

    Of several figures of a model on a benchmark the largest is taken, and that of
    samples where there are any. ``.benchmarks`` are their difficulties and slopes,
    ``.predictions`` what a model would have elsewhere, ``.trend`` is that over the days
    of release.

    Raises:
        MisuseError: an unknown name or model, a day that is none, no figures.
        StatisticsError: fewer figures than parameters, models that no benchmark
            connects, a number out of range.
    """

    NAME, ANSWER = "published_scale", "published:published_scale"
    COMMAND = "irt scale"

    benchmarks: Annotated[
        Sequence[str], Option("Names of benchmarks and suites, globs among them.")
    ]
    _: KW_ONLY
    reference: Annotated[
        str | None,
        Option(
            "Differences are to this model; default: the one with the highest ability.",
            "MODEL",
        ),
    ] = None
    predict: Annotated[
        str | None,
        Option(
            "Also the figure to expect of this model on each benchmark where it has "
            "none.",
            "MODEL",
        ),
    ] = None
    since: Annotated[
        str | None,
        Option(
            "Only models that are known to be released on this day or later.",
            "YYYY-MM-DD",
        ),
    ] = None
    min_benchmarks: Annotated[
        int, Option("Leave out models with figures on fewer benchmarks.", "N", least=2)
    ] = 4
    min_models: Annotated[
        int, Option("Leave out benchmarks with figures of fewer models.", "N", least=2)
    ] = 4
    level: Level = 0.95
    seed: Seed = 0


@dataclass(frozen=True)
class PublishedCompletion(ByMetric, Question):
    """Figures that would be expected of models on benchmarks that they were not run on,
    published or of samples, with intervals by figures held out.

    No scores: they are never ranked, averaged or stored as such. ``.run_next`` says
    which benchmarks would narrow what is expected of the model.

    Raises:
        MisuseError: an unknown name, a day that is none, no figures.
        StatisticsError: too few figures, a model or benchmark of fewer than four,
            models that no benchmark connects, a number out of range.
    """

    NAME, ANSWER = "published_completion", "completed:published_completion"
    COMMAND = "irt complete"

    benchmarks: Annotated[
        Sequence[str],
        Option("Names of benchmarks and suites of the table, globs among them."),
    ]
    _: KW_ONLY
    model: Annotated[
        str | None,
        Option("Only what is expected of this model; default: of all.", "MODEL"),
    ] = None
    benchmark: Annotated[
        str | None,
        Option("Only what is expected on this benchmark; default: on all.", "NAME"),
    ] = None
    run_next: Annotated[
        int,
        Option("Of one model, benchmarks to run next.", "N", ("--next",), least=1),
    ] = 3
    since: Annotated[
        str | None,
        Option(
            "Only models that are known to be released on this day or later.",
            "YYYY-MM-DD",
        ),
    ] = None
    level: Level = 0.95
