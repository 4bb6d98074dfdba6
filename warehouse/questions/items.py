"""What single prompts say about models, and which keys of theirs are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from warehouse.questions.options import (
    ByMetric,
    ChosenScores,
    Cluster,
    Fresh,
    Level,
    Seed,
    Selected,
    SelectedAtLevel,
    StoreResult,
)
from warehouse.questions.question import Option, Options, Question


@dataclass(frozen=True)
class _Benchmark(Options):
    """One benchmark."""

    benchmark: Annotated[str, Option("Name of a benchmark with prompts of its own.", "BENCHMARK")]


@dataclass(frozen=True)
class Items(ChosenScores, _Benchmark, Question):
    """Difficulty and discrimination of every prompt that two models have a score of.

    Raises:
        MisuseError: an unknown name or model, or fewer than two models or prompts.
    """

    NAME, ANSWER = "items", "warehouse.analysis.items.item_statistics:items"

    _: KW_ONLY
    irt: Annotated[
        str | None,
        Option("Item response model. [default: 2pl from 20 models on, else 1pl]", choices=("1pl", "2pl", "none")),
    ] = None


@dataclass(frozen=True)
class ItemSplits(ChosenScores, _Benchmark, Question):
    """Discrimination of prompts on some models against that on others.

    Raises:
        MisuseError: an unknown name, fewer than six models or two prompts.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "item_splits", "warehouse.analysis.items.pruning:item_splits"
    COMMAND = "items --splits"

    _: KW_ONLY
    n_splits: Annotated[int, Option("Random splits beside the one by difficulty.", least=1, in_python_only=True)] = 20
    seed: Seed = 0


@dataclass(frozen=True)
class ItemPruning(ChosenScores, _Benchmark, Question):
    """What dropping the least discriminating prompts does to other models, beside random drops.

    Monotonicity takes training runs with at least three checkpoints, signal-to-noise recipes whose last checkpoints
    have several seeds; where other models suffice, these are in neither side of the splits.

    Raises:
        MisuseError: an unknown name, fewer than six models or two prompts.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "item_pruning", "warehouse.analysis.items.pruning:item_pruning"
    COMMAND = "items --pruning"

    _: KW_ONLY
    shares: Annotated[
        Sequence[float], Option("Of the prompts to drop.", least=0, most=1, is_open=(False, True), in_python_only=True)
    ] = (0.0, 0.05, 0.1, 0.15, 0.2)
    n_random: Annotated[int, Option("Random drops for each share.", least=1, in_python_only=True)] = 100
    seed: Seed = 0


@dataclass(frozen=True)
class ItemFeatures(SelectedAtLevel, _Benchmark, Question):
    """What goes with difficulty and discrimination of prompts: length, options, position of the right answer, fields.

    Raises:
        MisuseError: an unknown name, feature or clustering, fewer than two models or prompts, nothing to compare.
    """

    NAME, ANSWER = "item_features", "warehouse.analysis.items.features:item_features"
    COMMAND = "items --features"

    _: KW_ONLY
    by: Annotated[
        Sequence[str],
        Option(
            "Features: length, words, options, position, has:TEXT, metadata.FIELD. Repeatable. [default: all but words"
            " and has: that can be compared]",
            "FEATURE,...",
        ),
    ] = ()


@dataclass(frozen=True)
class ItemResponse(Selected, Question):
    """An item response model of all models' answers, missing ones allowed.

    It is asked by ``.fit()``, ``.abilities()`` and ``.next_items(model)``; nothing is read before.

    Raises:
        StatisticsError: another model; a MisuseError by its methods: unknown names, models that share no scale.
    """

    NAME, ANSWER, OPENS = "irt", "warehouse.analysis.irt.irt:irt", True
    COMMAND = "irt fit"

    benchmarks: Annotated[Sequence[str], Option("Names of benchmarks and suites, globs among them.")]
    _: KW_ONLY
    model: Annotated[
        str | None,
        Option(
            "Item response model. [default: 2pl from 20 models on, if enough prompts link them; else 1pl]", "1pl|2pl"
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
            "Families of models: a field of runs (developer, family), or a CSV file with the columns model and family."
            " [default: what stands before the / of their names]",
            "FIELD|FILE",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FitItems(_ByFamily):
    """Difficulty, discrimination and fit of every prompt, and what differs between families of models.

    Families are also a dictionary from model to family.

    Raises:
        MisuseError: see :attr:`data`; models that share no scale; a 2PL that too few prompts link; an unknown field.
    """

    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Abilities(_ByFamily):
    """All models on one scale, with errors, rank sets and differences with the first.

    Raises:
        MisuseError: see :meth:`fit`.
    """

    sensitivity: Annotated[bool, Option("What the scale says without each benchmark and family instead.")] = False
    level: Level = 0.95
    seed: Seed = 0


@dataclass(frozen=True)
class NextItems(Options):
    """The prompts to ask a model next, for its ability and rank; they give no score.

    Raises:
        MisuseError: see :meth:`fit`; an unknown model; nothing left to ask.
    """

    asked: Annotated[str, Option("Name of a model with answers, or with --new of one without any.", "MODEL")]
    _: KW_ONLY
    n: Annotated[int, Option("Prompts to name.", "N", ("-n",), least=1)] = 20
    new: Annotated[bool, Option("A model that has no answers yet.")] = False
    level: Level = 0.95
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Dimensions(Options):
    """How many dimensions the answers have, by what is predicted of models left out with all their settings.

    Raises:
        MisuseError: see :attr:`data`; models that answered different prompts.
        StatisticsError: fewer than 8 models, numbers out of range.
    """

    tries: Annotated[
        Sequence[int] | None,
        Option("Numbers of dimensions. [default: 1, 2, 3, 5, 10, as far as there are models]", "N,N...", ("--try",)),
    ] = None
    sizes: Annotated[
        Sequence[int] | None,
        Option("Prompts that scores are estimated from. [default: 25, 50, 100; a fifth of fewer than 50]", "N,N..."),
    ] = None
    seed: Seed = 0


@dataclass(frozen=True)
class PublishedScale(ByMetric, Question):
    """All models on one scale by their figures on whole benchmarks, published or of samples.

    Of several figures of a model on a benchmark the largest is taken, and that of samples where there are any.
    ``.benchmarks`` are their difficulties and slopes, ``.predictions`` what a model would have elsewhere, ``.trend``
    is that over the days of release.

    Raises:
        MisuseError: an unknown name or model, a day that is none, no figures.
        StatisticsError: fewer figures than parameters, models that no benchmark connects, a number out of range.
    """

    NAME, ANSWER = "published_scale", "warehouse.analysis.irt.published:published_scale"
    COMMAND = "irt scale"

    benchmarks: Annotated[Sequence[str], Option("Names of benchmarks and suites, globs among them.")]
    _: KW_ONLY
    reference: Annotated[
        str | None, Option("Differences are to this model; default: the one with the highest ability.", "MODEL")
    ] = None
    predict: Annotated[
        str | None, Option("Also the figure to expect of this model on each benchmark where it has none.", "MODEL")
    ] = None
    since: Annotated[
        str | None, Option("Only models that are known to be released on this day or later.", "YYYY-MM-DD")
    ] = None
    min_benchmarks: Annotated[int, Option("Leave out models with figures on fewer benchmarks.", "N", least=2)] = 4
    min_models: Annotated[int, Option("Leave out benchmarks with figures of fewer models.", "N", least=2)] = 4
    level: Level = 0.95
    seed: Seed = 0


@dataclass(frozen=True)
class Audit(ByMetric, _Benchmark, Question):
    """The posterior probability that the recorded key is wrong, for each prompt of a benchmark.

    ``.listed`` are the suspects, ``.plan()`` is the benchmark without them. A clean list proves no clean key: only
    what models agree on is found.

    Of each model one condition is heard, that of the last checkpoint and of those the newest; of these at most the 20
    best that reach 0.6 of the best, at least three (statistics.md §14). Votes are the options with the largest
    log-likelihood, by the measure that the metric follows, or extracted answers, or short responses; free-form answers
    are compared in one form, and one that the metric calls right is a vote for the key.

    Raises:
        MisuseError: unknown names, no keys, fewer than three models with answers, a model twice, a keyword that would
            change nothing.
        StatisticsError: a number out of range.
        InputError: a file of verdicts that is none.
    """

    NAME, ANSWER = "audit", "warehouse.analysis.audit.audit:audit"

    _: KW_ONLY
    cluster: Cluster = None
    threshold: Annotated[
        float,
        Option("List keys that are wrong with at least this probability.", "P", least=0, most=1, is_open=(True, False)),
    ] = 0.1
    strata: Annotated[
        str | None, Option("Document field, such as subject, whose values have rates of their own.", "FIELD")
    ] = None
    n_options: Annotated[
        int | None, Option("Options of a prompt, where the store has letters only.", "N", ("--options",), least=2)
    ] = None
    effect: Annotated[bool, Option("How the leaderboard changes without the suspects.")] = False
    against: Annotated[
        str | Path | None, Option("Score the list against verdicts of people: CSV or JSON lines.", "FILE")
    ] = None
    wrong_is: Annotated[
        Sequence[str],
        Option("A verdict there that means a wrong key; all others mean a right one. Repeatable.", "VERDICT"),
    ] = ()
    sample: Annotated[
        int | None, Option("Draw so many keys at random for people to judge, as a table.", "N", least=1)
    ] = None
    certain: Annotated[int, Option("Of the sample: the K most suspect keys, whatever is drawn.", "K", least=0)] = 0
    seed: Seed = 0
    verdicts: Annotated[
        str | Path | None, Option("The table of a sample with verdicts of people: how many keys are wrong.", "FILE")
    ] = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.effect and self.verdicts is None:
            self.refuse("goes with {effect} or {verdicts}: nothing else has intervals", "level")
        if self.against is None and self.verdicts is None:
            self.refuse("goes with {against} or {verdicts}", "wrong_is")
        if self.sample is None:
            self.refuse("goes with {sample}", "certain", "seed")
        else:
            self.refuse("is for a sample that was judged, and {sample} draws one", "verdicts")
            self.refuse("has rows of its own, and so has {sample}", "effect", "against")
        if self.verdicts is not None:
            self.refuse("has rows of its own, and so has {verdicts}", "effect", "against")


@dataclass(frozen=True)
class Show(Question):
    """A run, or one prompt of it with every response and score, or a prompt in all runs.

    Raises:
        MisuseError: no such run or prompt, or several.
    """

    NAME, ANSWER = "show", "warehouse.analysis.items.show:show"

    run: Annotated[
        str | int,
        Option(
            "``run:ID``, an id, or a reference that means one run; ``prompt:ID`` for a prompt in all runs, with its id"
            " in the store.",
            "run:ID|prompt:ID",
        ),
    ]
    prompt: Annotated[
        str | int | None,
        Option(
            "``prompt:ID``, the tool's id of the prompt, its id in the store, its key, or at least six characters that"
            " its key begins with; None for the run with all prompts, in the order of the benchmark.",
            is_argument=True,
        ),
    ] = None
