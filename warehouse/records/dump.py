"""A dump as importers yield it: its files, its run headers, and the columns of its
sample batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa

#: How a rejection begins where the file ends inside the row.
CUT_SHORT = "the file ends inside this row: "


@dataclass(frozen=True)
class Rejection:
    """One row that could not be taken: where, what stood there, what was expected."""

    place: str
    found: str
    expected: str

    @property
    def is_cut(self) -> bool:
        """Whether the file ends inside this row: what should follow is lacking too."""
        return self.found.startswith(CUT_SHORT)


@dataclass(frozen=True)
class BulkQuery:
    """A query over files that yields the columns of :data:`SAMPLE_SCHEMA`."""

    #: a SELECT with ``$name`` parameters. Columns are matched by name. ``scores`` and
    #: ``choice_scores`` are lists of structs with the fields of the schema (any order).
    sql: str
    #: values of the parameters; paths go here, escaped by :func:`literal_path`.
    parameters: Mapping[str, Any]
    #: called when the query fails; yields the same rows one file at a time, and records
    #: each bad row in ``Dump.rejections`` with its line.
    fallback: Callable[[], Iterable[pa.RecordBatch]]
    unfit: str = "false"  #: a condition on ``identity`` under which the query fails; held against each identity once.


Batch: TypeAlias = pa.RecordBatch | BulkQuery


@dataclass(frozen=True)
class SameContent:
    """What rows of one run are that hold the same content, in a dump whose own ids do
    not settle it."""

    are_draws: bool  #: of one prompt, in their order; else prompts of their own, told apart by ids or by place.
    #: rows may be about one prompt, of other variants, draws or metrics.
    belong_together: bool = False
    by_metric: bool = False  #: each row holds a metric of its own.
    by_id: bool = False  #: ids tell them apart.
    key: str = ""  #: how a mapping says that they are draws of one prompt.


@dataclass
class Scan:
    """What scanners found in generations that runs of other sources hold, whichever
    comes first."""

    scan_id: str  #: the tool's own id of the scan.
    #: one for each scanner, or for each key of one whose values are objects.
    metrics: tuple[MetricSpec, ...]
    batches: Iterable[pa.RecordBatch]  #: columns of :data:`SCAN_SCHEMA`.


@dataclass
class Dump:
    """What an importer makes of one source. ``rejections`` and ``notes`` grow while
    reading.

    ``close`` lets go of what is held open for the batches, where they are not read.
    """

    runs: tuple[RunHeader, ...]
    batches: Iterable[Batch]
    published: tuple[
        PublishedScore, ...
    ] = ()  # figures of groups, which belong to no run
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: of the notes those on what was taken for something that nobody has said: if it is
    #: something else, figures mean something else.
    assumed: list[str] = field(default_factory=list)
    close: Callable[[], None] = lambda: None
    same_content: SameContent | None = None  # where the importer does not know
    scan: Scan | None = None  # a dump of scanners has no runs
    votes: Iterable[pa.RecordBatch] | None = (
        None  # columns of VOTE_SCHEMA; such a dump may have no runs
    )


@dataclass(frozen=True)
class Candidate:
    """A file offered to the importers: its path, first bytes (up to 64 KiB) and size in
    bytes."""

    path: Path
    head: bytes
    size: int


@dataclass(frozen=True)
class SourceFiles:
    """Files that form one source. ``name`` is what the ledger shows; ``root`` the
    folder it is relative to; ``files`` in a fixed order (they are hashed together)."""

    name: str
    root: Path
    files: tuple[Path, ...]


@dataclass(frozen=True)
class ImportSettings:
    """What the user said about the source.

    ``values`` overrides header fields (``--set field=value``, already of the field's
    type); ``defaults`` fills those that the dump leaves empty (``--default
    field=value``); ``mapping`` is the parsed mapping file of the tabular importer;
    ``mapping_path`` names it. ``higher_is_better`` is the direction of metrics of which
    the source says none. ``cluster_by`` are properties of prompts that are asked for.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    mapping: Mapping[str, Any] | None = None
    mapping_path: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    higher_is_better: bool | None = None
    cluster_by: tuple[str, ...] = ()

    @property
    def user_values(self) -> dict[str, Any]:
        """What the user said of a field in either way: what a dump need not say."""
        return {**self.defaults, **self.values}

    @property
    def model(self) -> str | None:
        """The model that the user names, if any."""
        name = self.user_values.get("model")
        if isinstance(name, str) and name.strip():
            return name
        return None

    @property
    def stated(self) -> dict[str, Any]:
        """The former name of :attr:`user_values`."""
        warnings.warn(
            "settings.stated is now settings.user_values",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.user_values


def literal_path(path: Path | str) -> str:
    """The path with characters escaped that a file glob would take as wildcards."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))


Link = Literal["identity", "exp_neg", "neg_over_ln2", "none"]
MetricKind = Literal["binary", "bounded", "continuous"]
RunStatus = Literal["complete", "truncated", "failed", "invalidated"]


@dataclass(frozen=True)
class MetricSpec:
    """What is known of one metric of a run.

    ``kind``, ``low``, ``high`` and ``higher_is_better`` may be ``None``: unknown.
    ``link`` turns sum(w v)/sum(w) into the reported figure; ``"none"`` means that the
    reported figure cannot be computed from the samples. ``unit`` is the unit of the
    per-prompt value. ``is_default``: this is the run's headline metric; ``default_by``
    tells whose word that is, and a mapping's outweighs a tool's
    (``docs/reference/schema.md``).
    """

    name: str
    filter: str = ""
    scorer: str = ""
    scorer_kind: Literal["match", "model", "execution", "human"] = "match"
    judge_model: str = ""
    scorer_parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unit: str = ""
    link: Link = "identity"
    kind: MetricKind | None = None
    low: float | None = None
    high: float | None = None
    higher_is_better: bool | None = None
    chance_level: float | None = None
    is_default: bool | None = None
    default_by: Literal["tool", "mapping"] = "tool"


@dataclass(frozen=True)
class PublishedScore:
    """A figure that the source itself publishes.

    ``benchmark`` is empty for the run's own benchmark, else the name of a group or
    leaf. ``statistic`` is ``mean``, ``pass@1``, ``best`` …; ``n`` counts prompts;
    ``raw`` is the text where the value was not a number.
    """

    metric: str
    value: float | None
    filter: str = ""
    benchmark: str = ""
    statistic: str = "mean"
    perturbation: str = ""
    split: str = ""
    standard_error: float | None = None
    n: int | None = None
    raw: str | None = None


@dataclass(frozen=True)
class RunHeader:
    """One condition on one leaf benchmark and split, as the dump describes it.

    Everything down to ``sampling`` changes what is measured and enters the condition
    key, except ``sampling_seed``: runs that differ by it alone are repeats of one
    condition. Flat fields have the names that ``--set field=value`` and mapping files
    use.
    """

    harness: str
    model: str
    benchmark: str
    # who
    family: str | None = None
    developer: str | None = None
    parameter_count: int | None = None
    training_seed: str | None = None  # label of the trained replicate
    initialisation_seed: int | None = None
    data_order_seed: int | None = None
    recipe: str | None = None  # recipe or data mix
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    step: int | None = None
    epoch: float | None = None
    tokens: int | None = None
    revision: str | None = None
    base_checkpoint: str | None = None
    is_final: bool | None = None
    agent: str | None = None
    agent_version: str | None = None
    agent_parameters: Mapping[str, Any] = field(default_factory=dict)
    # on what
    suite: tuple[
        str, ...
    ] = ()  # names of the groups above the benchmark, outermost first
    benchmark_version: str | None = None
    dataset_revision: str | None = None
    split: str = ""
    task_version: str | None = None
    # how
    formulation: str | None = None  # multiple_choice, generate_until, cloze …
    fewshot: int | None = None
    fewshot_seed: int | None = None
    template_hash: str | None = None
    system_prompt_hash: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    sampling_seed: int | None = None
    endpoint: str | None = None
    opponent: str | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)  # other sampling settings
    metrics: tuple[MetricSpec, ...] = ()
    # what happened
    run_id: str | None = None  # the tool's own id of this run
    harness_version: str | None = None
    harness_commit: str | None = None
    hardware: str | None = None
    cost: float | None = None  # US dollars
    started_at: datetime | None = None  # naive UTC
    configuration: Mapping[str, Any] = field(default_factory=dict)
    n_benchmark: int | None = None  # prompts that the benchmark has
    n_requested: int | None = None  # prompts that the run says it covers
    status: RunStatus = "complete"
    tags: tuple[str, ...] = ()
    note: str | None = None
    published: tuple[PublishedScore, ...] = ()
    place: str = ""  # file (relative to the source) that the run's samples come from


SCORE_STATUSES = ("scored", "no_answer", "error", "limit", "refused", "not_scalar")
#: Of the scores of a dump; those that the store makes of scans are `scanned`.
SCORE_ORIGINS = ("recorded", "mapped", "implied")

#: One score of one sample.
SCORE_TYPE = pa.struct(
    [
        # name of the metric, e.g. "acc"; with `filter` it names one entry of
        # RunHeader.metrics
        pa.field("metric", pa.string()),
        # filter pipeline of the harness ("" = none)
        pa.field("filter", pa.string()),
        # the number, in the metric's additive unit; null where there is no number (see
        # status)
        pa.field("value", pa.float64()),
        # weight of this value in the benchmark's mean (words, bytes); null means 1
        pa.field("weight", pa.float64()),
        # generations behind the value (a stored pass rate of 10 has 10); null means 1
        pa.field("n_draws", pa.int32()),
        # the value as it stood in the dump, where that differs from the number
        pa.field("raw", pa.string()),
        # one of SCORE_STATUSES; null means: scored if there is a value, else error
        pa.field("status", pa.string()),
        # one of SCORE_ORIGINS; null means recorded
        pa.field("origin", pa.string()),
    ]
)

#: One option of a multiple-choice sample.
CHOICE_TYPE = pa.struct(
    [
        pa.field("choice_index", pa.int32()),  # 0-based
        pa.field("loglikelihood", pa.float64()),  # nats, of the option given the prompt
        pa.field(
            "unconditional_loglikelihood", pa.float64()
        ),  # nats, of the option alone
        pa.field("is_greedy", pa.bool_()),  # greedy decoding gives this option
        pa.field("n_tokens", pa.int32()),
        pa.field("n_bytes", pa.int32()),
        pa.field("is_target", pa.bool_()),  # null = unknown
    ]
)

#: The calls of one tool in a generation.
TOOL_TYPE = pa.struct(
    [
        pa.field("tool", pa.string()),  # its name; null where the dump names none
        pa.field("n_calls", pa.int32()),
        pa.field("n_errors", pa.int32()),  # calls that came back as an error
    ]
)

#: What happened on the way to a response. What the dump does not say is null, never 0.
TRANSCRIPT_TYPE = pa.struct(
    [
        # the tool's own id of this generation, by which scans name it
        pa.field("uuid", pa.string()),
        # `place_of` it: what scans may say in place of that id
        pa.field("place", pa.string()),
        pa.field("n_messages", pa.int32()),
        pa.field("n_turns", pa.int32()),  # messages that the model wrote
        pa.field("n_events", pa.int32()),  # of the tool's own log of the sample
        # what ended it early: tokens, messages, time ...; null where nothing did
        pa.field("limit_hit", pa.string()),
        pa.field("cached_tokens", pa.int64()),  # of the input: read from a cache
        pa.field(
            "cache_write_tokens", pa.int64()
        ),  # of the input: written into a cache
        pa.field("reasoning_tokens", pa.int64()),  # of the output
        pa.field("tools", pa.list_(TOOL_TYPE)),  # null: unknown; empty: none was called
        # JSON list of all messages, where prompt and response do not say all of it
        pa.field("messages", pa.string()),
    ]
)

#: What a scanner says of one generation, or one of the things that it found in it.
SCAN_SCHEMA = pa.schema(
    [
        # index into Scan.metrics
        pa.field("metric", pa.int32()),
        # the tool's own id of the generation (`uuid` of its transcript)
        pa.field("uuid", pa.string()),
        # `place_of` it, where the log of its run has other ids, or none
        pa.field("place", pa.string()),
        # 0: the value that the generation gets as its score; from 1: the items of a
        # list
        pa.field("position", pa.int32()),
        pa.field("label", pa.string()),
        # the number; null where there is none (see status)
        pa.field("value", pa.float64()),
        # the value as it was written, where no number says it; of an error its message
        pa.field("raw", pa.string()),
        pa.field("status", pa.string()),  # one of SCORE_STATUSES
        pa.field("scanned_at", pa.timestamp("us")),  # naive UTC
    ]
)

VOTE_OUTCOMES = ("a", "b", "tie", "both_bad")

#: One vote between the answers of two models, in the order of the dump.
VOTE_SCHEMA = pa.schema(
    [
        pa.field("benchmark", pa.string()),
        pa.field("split", pa.string()),  # null: ""
        # as in SAMPLE_SCHEMA; with neither, the vote is on a question of its own
        pa.field("prompt_id", pa.string()),
        pa.field("identity", pa.string()),
        pa.field("text", pa.string()),
        pa.field("target", pa.string()),
        pa.field("metadata", pa.string()),
        pa.field("perturbation", pa.string()),
        pa.field("template", pa.string()),
        pa.field("model_a", pa.string()),
        pa.field("model_b", pa.string()),
        pa.field(
            "first", pa.string()
        ),  # whose answer was shown first: a or b; null: unknown
        # who judges: a judge, or people as a whole
        pa.field("scorer", pa.string()),
        pa.field("scorer_kind", pa.string()),  # of a MetricSpec; null: human
        pa.field("judge_model", pa.string()),
        pa.field("voter", pa.string()),  # the person; null: unknown
        pa.field(
            "outcome", pa.string()
        ),  # one of VOTE_OUTCOMES; null: no verdict was given
        pa.field("weight", pa.float64()),  # above 0; null: 1
        pa.field(
            "draw", pa.int32()
        ),  # which of several votes by the same on the same; null: 0
        # JSON objects of numbers, of the answer of a and of b
        pa.field("covariates_a", pa.string()),
        pa.field("covariates_b", pa.string()),
        pa.field("created_at", pa.timestamp("us")),  # naive UTC
    ]
)


def place_of(run: str, sample: object, epoch: object) -> str:
    """What else names a generation than its id: the tool's own id of the run (and of
    this attempt at it), sample and epoch, as texts."""
    return f"{run}/{sample}/{epoch}"


SAMPLE_SCHEMA = pa.schema(
    [
        # index of the RunHeader in Dump.runs
        pa.field("run", pa.int32()),
        # 0-based place of the item in the data set or dump; equal for all rows of one
        # item
        pa.field("position", pa.int64()),
        # the tool's own id of the prompt, as text; null where it has none
        pa.field("prompt_id", pa.string()),
        # JSON text of what makes the prompt this prompt (document and target, say). The
        # key is sha256 of its canonical form (`content_key`). Null: prompt_id is the
        # key, else position
        pa.field("identity", pa.string()),
        pa.field(
            "text", pa.string()
        ),  # the question, without few-shot examples or template
        pa.field("target", pa.string()),
        pa.field("choices", pa.string()),  # JSON list of option texts
        pa.field("metadata", pa.string()),  # JSON object of all document fields
        # perturbation or prompt format ("" = the headline form); never averaged over
        pa.field("perturbation", pa.string()),
        pa.field(
            "fewshot_draw", pa.string()
        ),  # which draw of few-shot examples ("" = only one)
        pa.field(
            "template", pa.string()
        ),  # template of this row, where it varies inside a run
        # 0-based number of the generation; -1 = a value of all draws together (maj@k);
        # null = 0, or numbered by the loader under `--on-duplicate draws`
        pa.field("draw", pa.int32()),
        pa.field("prompt_sent", pa.string()),  # the prompt as sent to the model
        pa.field("response", pa.string()),  # what the model wrote
        pa.field("extracted_answer", pa.string()),
        pa.field("finish_reason", pa.string()),
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("latency", pa.float64()),  # seconds
        pa.field("cost", pa.float64()),  # US dollars
        pa.field("error", pa.string()),  # why there is no response
        pa.field("explanation", pa.string()),  # what the grader wrote
        pa.field("scores", pa.list_(SCORE_TYPE)),
        pa.field("choice_scores", pa.list_(CHOICE_TYPE)),
        pa.field("transcript", TRANSCRIPT_TYPE),
    ]
)


def too_large(value: Any, kind: pa.DataType) -> int | None:
    """The first whole number in a value that its Arrow type cannot hold.

    Args:
        value: of the type, or nearly so; may hold lists and mappings.
        kind: type of the column.

    Returns:
        the number; ``None`` if all fit.
    """
    parts: list[tuple[Any, pa.DataType]] = []
    if pa.types.is_struct(kind):
        if isinstance(value, Mapping):
            parts = [(value.get(field.name), field.type) for field in kind]
    elif pa.types.is_list(kind):
        if isinstance(value, list | tuple):
            parts = [(item, kind.value_type) for item in value]
    elif pa.types.is_signed_integer(kind) and isinstance(value, int):
        bound = 1 << (kind.bit_width - 1)
        if not -bound <= value < bound:
            return value
    for part, kind_of_part in parts:
        number = too_large(part, kind_of_part)
        if number is not None:
            return number
    return None
