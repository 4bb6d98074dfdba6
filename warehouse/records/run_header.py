"""What a dump says of a run as a whole: its header, its metrics, its published figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Link = Literal["identity", "exp_neg", "neg_over_ln2", "none"]
MetricKind = Literal["binary", "bounded", "continuous"]
RunStatus = Literal["complete", "truncated", "failed", "invalidated"]


@dataclass(frozen=True)
class MetricSpec:
    """What is known of one metric of a run.

    ``kind``, ``low``, ``high`` and ``higher_is_better`` may be ``None``: unknown. ``link`` turns
    sum(w v)/sum(w) into the reported figure; ``"none"`` means that the reported figure cannot be
    computed from the samples. ``unit`` is the unit of the per-prompt value. ``is_default``: this is
    the run's headline metric; ``default_by`` tells whose word that is, and a mapping's outweighs a
    tool's (``docs/schema.md``).
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

    ``benchmark`` is empty for the run's own benchmark, else the name of a group or leaf.
    ``statistic`` is ``mean``, ``pass@1``, ``best`` …; ``n`` counts prompts; ``raw`` is the text
    where the value was not a number.
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

    Everything down to ``sampling`` changes what is measured and enters the condition key, except
    ``sampling_seed``: runs that differ by it alone are repeats of one condition. Flat fields
    have the names that ``--set field=value`` and mapping files use.
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
    suite: tuple[str, ...] = ()  # names of the groups above the benchmark, outermost first
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
