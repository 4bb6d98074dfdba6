"""What is known of a run, stated once: which fields make its condition, which a reader
must see.

Fields of the run header, columns of the table ``run`` and columns of the view
``run_current`` bear one name wherever they mean the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RunField:
    """One field."""

    name: str  #: of it, in the header and in ``run_current``.
    #: it changes what is measured, and is part of the condition key.
    in_key: bool = False
    stored: bool = False  #: a column of ``run`` that takes the header's value as it is.
    #: place among the settings of a condition's label; None where labels do without.
    label: int | None = None
    always: bool = False  #: labels tell it even where it differs between models only: it changes what a figure means.
    is_hash: bool = False  #: a label shows its first characters only.
    #: in a suite's rows ``"who"``: it says who was evaluated, and a row never mixes two
    #: of them; ``"common"``: it means the same on every leaf, and where it differs on
    #: one leaf conditions make rows of their own; empty: neither.
    suite: Literal["", "who", "common"] = ""
    #: it changes along one training, and nothing else does.
    of_checkpoint: bool = False


#: ``sampling_seed`` is in no key: runs that differ by it alone are repeats of one
#: condition.
RUN_FIELDS = (
    # who was evaluated
    RunField("model", in_key=True, suite="who"),
    RunField("model_recorded", label=0, of_checkpoint=True),
    RunField("revision", in_key=True, label=1, suite="who", of_checkpoint=True),
    RunField("training_seed", in_key=True, label=3, suite="who"),
    RunField("initialisation_seed", in_key=True),
    RunField("data_order_seed", in_key=True),
    RunField("recipe", in_key=True, label=4, suite="who"),
    RunField("hyperparameters", in_key=True),
    RunField("step", in_key=True),
    RunField("epoch", in_key=True),
    RunField("tokens", in_key=True),
    RunField("position", label=2, suite="who", of_checkpoint=True),
    RunField("position_unit", suite="who"),
    RunField("base_checkpoint", in_key=True),
    RunField("checkpoint", label=24, is_hash=True, suite="who", of_checkpoint=True),
    RunField("agent", in_key=True, label=5, always=True, suite="who"),
    RunField("agent_version", in_key=True, label=6, suite="who"),
    RunField("agent_parameters", in_key=True),
    # on what
    RunField("benchmark", in_key=True),
    RunField("benchmark_recorded", label=8),
    RunField("benchmark_version", in_key=True, stored=True, label=9, always=True),
    RunField("dataset_revision", in_key=True),
    RunField("split", in_key=True, stored=True, label=7, always=True, suite="common"),
    RunField("task_version", in_key=True, stored=True, label=10, always=True),
    # how
    RunField("harness", in_key=True, label=11, suite="common"),
    RunField(
        "formulation", in_key=True, stored=True, label=12, always=True, suite="common"
    ),
    RunField(
        "fewshot", in_key=True, stored=True, label=13, always=True, suite="common"
    ),
    RunField("fewshot_seed", in_key=True, stored=True, label=14, suite="common"),
    RunField("template_hash", in_key=True, stored=True, label=21, is_hash=True),
    RunField("system_prompt_hash", in_key=True, stored=True, label=22, is_hash=True),
    RunField(
        "reasoning_effort",
        in_key=True,
        stored=True,
        label=15,
        always=True,
        suite="common",
    ),
    RunField(
        "temperature", in_key=True, stored=True, label=16, always=True, suite="common"
    ),
    RunField("top_p", in_key=True, stored=True, label=17, suite="common"),
    RunField("max_tokens", in_key=True, stored=True, label=18, suite="common"),
    RunField("endpoint", in_key=True, stored=True, label=19, suite="common"),
    RunField("opponent", in_key=True, stored=True, label=20, suite="common"),
    RunField("sampling", in_key=True),
    RunField("scorers_key", label=23, is_hash=True),
    # what came of it
    RunField("sampling_seed", stored=True),
    RunField("n_benchmark", stored=True),
    RunField("n_requested", stored=True),
    RunField("started_at", stored=True),
    RunField("note", stored=True),
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(field.name for field in RUN_FIELDS if getattr(field, text))


#: Header fields that change what is measured.
CONDITION_FIELDS = _names("in_key")
#: Header fields that the table ``run`` takes as they are.
STORED_FIELDS = _names("stored")
#: Settings of a condition, in the order in which labels show them.
LABEL_FIELDS = tuple(
    field.name
    for field in sorted(RUN_FIELDS, key=lambda field: field.label or 0)
    if field.label is not None
)
#: Those that a reader must see even where they differ between models only.
ALWAYS_TOLD = _names("always")
#: Those of which a label shows the first characters only.
HASHES = _names("is_hash")
#: What says who was evaluated, the model first.
WHO_FIELDS = tuple(field.name for field in RUN_FIELDS if field.suite == "who")
#: Settings that mean the same on every leaf of a suite.
COMMON_FIELDS = tuple(field.name for field in RUN_FIELDS if field.suite == "common")
#: What differs between the checkpoints of one training.
CHECKPOINT_FIELDS = _names("of_checkpoint")
