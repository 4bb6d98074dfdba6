"""The performance matrix of a benchmark, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import ChosenScores, Fresh, Seed, StoreResult
from warehouse.questions.question import Option, Options, Question

_Shuffled = Option("Matrices with every column shuffled.", "N", least=1)


@dataclass(frozen=True)
class PerformanceMatrix(ChosenScores, Question):
    """The performance matrix of a benchmark: prompts × models, complete rows only.

    It is asked by ``.test()``, ``.cluster()``, ``.weights()``, ``.grow()`` and
    ``.explain()``; nothing is read before.

    Raises:
        MisuseError: by its methods: unknown names, or fewer than two models or complete
            prompts.
    """

    NAME, OPENS = "matrix", True
    COMMAND = "matrix test"

    benchmark: Annotated[str, Option("Name of a benchmark with prompts of its own.")]
    _: KW_ONLY
    fresh: Fresh = False
    store_result: StoreResult = True
    progress: Annotated[
        Callable[[int, int], None] | None,
        Option(
            "Called with (done, all) while something is computed.", in_python_only=True
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CorrelationTest(Options):
    """Are prompts correlated beyond chance?

    Raises:
        MisuseError: see :attr:`data`; scores that a similarity is not defined for.
    """

    similarities: Annotated[
        Sequence[str],
        Option(
            "Repeatable; default: all that the scores allow.",
            flags=("--similarity",),
            choices=("hamming", "cosine", "jaccard"),
        ),
    ] = ()
    permutations: Annotated[int, _Shuffled] = 1000
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class ClusterMatrix(Options):
    """Clusters of prompts on which models succeed and fail alike.

    Raises:
        MisuseError: see :attr:`data`; fewer than three distinct rows; a name that is
            taken, also by a clustering made with other settings unless ``replace``.
    """

    n_clusters: Annotated[
        Sequence[int],
        Option(
            "Numbers of clusters to try, such as 2-10. [default: 2-20]",
            "N,...",
            ("--clusters",),
        ),
    ] = ()
    permutations: Annotated[int, Option(_Shuffled.help, "N", least=0)] = 1
    seed: Seed = 0
    store: Annotated[
        str | None, Option("Keep it; --cluster NAME uses it for error bars.", "NAME")
    ] = None
    default: Annotated[
        bool, Option("With --store: use it for error bars from now on.")
    ] = False
    replace: Annotated[
        bool, Option("Also in place of a clustering made with other settings.")
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.default and not self.store:
            raise MisuseError("a default clustering needs a name to be stored under")
        if self.replace and not self.store:
            raise MisuseError("a clustering that replaces another needs its name")


@dataclass(frozen=True, kw_only=True)
class WeightMatrix(Options):
    """Scores and ranks when prompts do not weigh the same.

    Weights of your own are by prompt (the tool's id or key), at least 0; others weigh
    0.

    Raises:
        MisuseError: see :attr:`data`; unknown clusterings or prompts, weights below 0.
    """

    draws: Annotated[int, Option("Random weightings.", "N", least=2)] = 100_000
    seed: Seed = 0
    cluster: Annotated[
        str | None,
        Option(
            "Stored clustering behind medoids and distances. [default: found as by "
            "matrix cluster]",
            "NAME",
        ),
    ] = None
    equal: Annotated[
        Sequence[str],
        Option(
            "Stored clustering whose clusters get equal weight; semantic ones come by "
            "themselves.",
            "NAME",
        ),
    ] = ()
    given: Annotated[
        Mapping[str, float] | None,
        Option(
            "Your own: CSV with the columns prompt and weight.", "FILE", ("--weights",)
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GrowMatrix(Options):
    """Score of every model against size: most informative prompts first, and at random.

    Raises:
        MisuseError: see :attr:`data`; sizes out of range.
    """

    sizes: Annotated[
        Sequence[int],
        Option(
            "Sizes to report. [default: some 40, evenly on a logarithmic scale]",
            "N,...",
        ),
    ] = ()
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class _Explained(Options):
    """How performance is held against what prompts ask."""

    embedder: Annotated[
        str | None, Option("Whose vectors. [default: the only one]", "NAME")
    ] = None
    intercept: Annotated[
        bool,
        Option(
            "False for regressions through the origin, as in the paper.",
            flags=("--no-intercept",),
        ),
    ] = True
    permutations: Annotated[
        int, Option("Times that prompts get the text of others.", "N", least=1)
    ] = 1000
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class ExplainMatrix(_Explained):
    """Does what prompts ask explain on which of them models succeed?

    Raises:
        MisuseError: see :attr:`data`; prompts without text or vectors.
    """

    part: Annotated[
        str,
        Option(
            "What of the prompts: prompt (the question), target, choices or "
            "metadata.FIELD.",
            "PART",
        ),
    ] = "prompt"


@dataclass(frozen=True)
class CompareParts(_Explained):
    """Which part of the prompts explains on which of them models succeed:
    :meth:`explain` of each, side by side.

    Raises:
        MisuseError: see :meth:`explain`; vectors of different embedders.
    """

    parts: Annotated[
        Sequence[str],
        Option(
            "What of the prompts: prompt (the question), target, choices or "
            "metadata.FIELD. Repeatable: one row for each. [default: prompt]",
            "PART",
            ("--part",),
        ),
    ] = ("prompt",)
