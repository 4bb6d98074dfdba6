"""The questions what prompts ask: vectors of their texts, and what is near to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated, cast

from warehouse.errors import MisuseError
from warehouse.questions.options import ShareDone, StoreResult
from warehouse.questions.question import Option, Question
from warehouse.questions.text_models import BATCH, PROMPT, Embedder, Steps

if TYPE_CHECKING:
    pass


_Names = Annotated[
    Sequence[str],
    Option(
        "Names, also of suites; default: all.",
        "[BENCHMARK|SUITE]...",
        is_argument=True,
        is_spread=True,
    ),
]


_ALIKE = Option(
    "Smallest cosine similarity of two prompts.",
    "COSINE",
    least=-1,
    most=1,
    is_open=(True, False),
)


_WHOSE = Option(
    "Whose vectors: NAME, NAME@REVISION or the model's folder; default: the only one.",
    "NAME|FOLDER",
)


_Vectors = Annotated[str | None, _WHOSE]


_Part = Annotated[
    str,
    Option(
        "What of the prompts: prompt (the question), target, choices or "
        "metadata.FIELD.",
        "PART",
    ),
]


@dataclass(frozen=True)
class EmbedPrompts(Question):
    """Embed the texts of parts of prompts that have no vector yet, or the vector of
    another text.

    Every chunk is stored in a transaction of its own, and the store is let go of while
    the model works: what a kill interrupts goes on from there, and others can read and
    write meanwhile. A model is named as :func:`warehouse.embeddings.load_embedder`
    takes it, or it is one of your own. Words that all prompts of a benchmark begin or
    end with are taken off first, if they are six or more; vectors made the other way
    are made anew. Prompts without a part are counted, not embedded.

    Raises:
        MisuseError: an unknown benchmark or part, no text at all, or a package that is
            not installed; a device or a size of batches for a model of your own.
        InputError: no model in this place, or vectors of another length than it
            promises.
        StoreError: the embedder is stored with vectors of another length.
    """

    NAME, ANSWER, OPENS = "embed", "embed:embed", True
    COMMAND = "text embed"
    CHANGES_STORE = True

    benchmarks: _Names = ()
    _: KW_ONLY
    embedder: Annotated[
        Sequence[str | Embedder] | str | Embedder,
        Option(
            "A sentence-transformers model: a folder, or its name on the hub. "
            "Repeatable.",
            "[NAME=]MODEL",
            ("--embedder",),
        ),
    ]
    batch_size: Annotated[
        int, Option("Texts that the model reads at a time.", "N", least=1)
    ] = BATCH
    device: Annotated[
        str | None, Option("cpu, cuda, mps; default: the fastest there is.", "NAME")
    ] = None
    chunk: Annotated[
        int | None,
        Option(
            "Texts that are stored at a time; default: 512, more where the model takes "
            "less than two seconds.",
            in_python_only=True,
        ),
    ] = None
    whole: Annotated[
        bool,
        Option(
            "Keep the words that all prompts of a benchmark share. [default: they are "
            "taken off]"
        ),
    ] = False
    part: Annotated[
        Sequence[str],
        Option(
            "What of the prompts: prompt (the question), target, choices or "
            "metadata.FIELD. Repeatable. [default: prompt]",
            "PART",
        ),
    ] = (PROMPT,)
    progress: Annotated[
        Steps | None, Option("Called as texts go by.", in_python_only=True)
    ] = None

    @property
    def embedders(self) -> Sequence[str | Embedder]:
        """Those that are named, several or one."""
        return cast("Sequence[str | Embedder]", self.embedder)


@dataclass(frozen=True)
class FindSimilar(Question):
    """The prompts whose text is nearest to that of a prompt, or to a text.

    What is no prompt (its id in the store, ``prompt:ID``, the tool's own id, a key) is
    a text, which is embedded with the model; for that ``embedder`` also says what it is
    loaded from, where that is not its name.

    Raises:
        MisuseError: unknown names, nothing embedded, or a model other than that of the
            vectors; a device where no model is loaded.
        InputError: the model of the vectors cannot be loaded.
    """

    NAME, ANSWER = "similar", "similar:similar"
    COMMAND = "text similar"

    wanted: Annotated[str | int, Option("A prompt, or a text.", "PROMPT|TEXT")]
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option("Look among its prompts only.", "NAME", ("-b", "--benchmark")),
    ] = None
    top: Annotated[int, Option("How many prompts.", "N", least=1)] = 10
    embedder: Annotated[str | Embedder | None, _WHOSE] = None
    device: Annotated[
        str | None, Option("Of the model, where a text is given.", "NAME")
    ] = None
    part: _Part = PROMPT


@dataclass(frozen=True)
class FindDuplicates(Question):
    """Pairs of prompts whose texts are nearly the same, within and across benchmarks.

    All pairs of n prompts are compared, in blocks: O(n²) time, O(n) memory; the store
    is let go of meanwhile. The pairs of many prompts are stored, and read back while
    their texts stay.

    Raises:
        MisuseError: an unknown benchmark or embedder, fewer than two prompts with
            vectors.
        StatisticsError: ``threshold`` out of range.
    """

    NAME, ANSWER, OPENS = "duplicates", "duplicates:duplicates", True
    COMMAND = "text duplicates"

    benchmarks: _Names = ()
    _: KW_ONLY
    threshold: Annotated[float, _ALIKE] = 0.95
    embedder: _Vectors = None
    keep: Annotated[
        int,
        Option(
            "The most similar pairs that are listed and scored; all are counted.",
            "N",
            least=0,
        ),
    ] = 10_000
    fresh: Annotated[bool, Option("Compare even where the pairs are stored.")] = False
    part: _Part = PROMPT
    store_result: StoreResult = True
    progress: ShareDone = None


@dataclass(frozen=True)
class ClusterByText(Question):
    """Cluster the prompts of a benchmark by the similarity of their texts, and store
    that.

    Clusters are the connected components of the graph that joins prompts with a cosine
    similarity of at least ``threshold`` (single linkage). The clustering takes the
    place of one with the same name that was made with the same settings. A trial shows
    the standard errors, and stores nothing.

    Raises:
        MisuseError: an unknown benchmark or embedder, no vectors, or a name that is
            taken, also by a clustering made with other settings unless ``replace``; a
            default without a store.
        StatisticsError: ``threshold`` out of range.
    """

    NAME, ANSWER, OPENS = "cluster_semantic", "semantic_clusters:cluster_semantic", True
    COMMAND = "text cluster"
    CHANGES_STORE = True

    benchmark: Annotated[str, Option("Name of a benchmark.")]
    _: KW_ONLY
    threshold: Annotated[float, _ALIKE] = 0.8
    embedder: _Vectors = None
    part: _Part = PROMPT
    name: Annotated[
        str | None,
        Option(
            "Of the clustering. [default: semantic; with the part behind it: "
            "semantic-target]",
            "NAME",
        ),
    ] = None
    default: Annotated[bool, Option("Use it for error bars from now on.")] = False
    replace: Annotated[
        bool, Option("Also in place of a clustering made with other settings.")
    ] = False
    store_result: StoreResult = True
    progress: ShareDone = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.default and not self.store_result:
            raise MisuseError(
                "a trial stores nothing that error bars could use from now on"
            )
        if self.replace and not self.store_result:
            raise MisuseError(
                "a trial replaces no clustering: give one of --replace and --no-store"
            )
