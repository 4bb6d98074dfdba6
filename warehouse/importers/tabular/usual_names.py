"""The usual names of columns: what a table without a mapping most likely means by them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping import RECORD_FIELDS, RUN_FIELDS, SAMPLE_FIELDS

#: Usual names of a run's fields, the likeliest first. A field's own name comes before them.
RUN_NAMES: dict[str, tuple[str, ...]] = {
    "model": ("model_name", "model_id"),
    "benchmark": ("task", "dataset", "benchmark_name", "benchmark_id", "task_name", "dataset_name"),
    "training_seed": ("seed",),
}
#: Usual names of a row's fields.
SAMPLE_NAMES: dict[str, tuple[str, ...]] = {
    "prompt_id": ("question_id", "example_id", "doc_id", "item_id", "sample_id", "id", "idx"),
    "text": ("question", "prompt", "input", "problem", "instruction"),
    "target": ("gold", "label", "answer", "reference", "expected", "expected_answer", "correct_answer", "ground_truth"),
    "response": ("prediction", "output", "completion", "model_answer", "generated_text", "pred"),
}
#: Properties of a prompt that are kept as metadata.
METADATA_NAMES = ("category", "subcategory", "subject", "topic", "domain", "difficulty", "language")
#: Columns of scores and the metric that each is; ``value`` where a column names the metric.
SCORE_NAMES = {
    "score": "score",
    "correct": "correct",
    "is_correct": "is_correct",
    "acc": "acc",
    "accuracy": "accuracy",
    "exact_match": "exact_match",
    "value": "score",
}
#: Metrics that are better the higher they are, where all their values are 0 or 1.
OF_TRUTH = frozenset({"score", "correct", "is_correct", "acc", "accuracy", "exact_match"})

#: Names that a run and a row both have: in a table of rows they are the row's.
_SHARED = {*SAMPLE_FIELDS, "status"}


@dataclass(frozen=True)
class Guess:
    """What the columns of a table most likely are: field -> column, for runs and rows.

    ``scores`` are pairs of metric and column; the metric is ``""`` where the column ``metric``
    names it. ``unused`` are the columns that no name tells.
    """

    run: dict[str, str] = field(default_factory=dict)
    sample: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    scores: tuple[tuple[str, str], ...] = ()
    metric: str = ""
    filter: str = ""
    unused: tuple[str, ...] = ()

    @property
    def renamed(self) -> dict[str, str]:
        """Fields whose column is called otherwise than the field: field -> column."""
        both = {**self.run, **self.sample}
        return {name: column for name, column in both.items() if plain_name(column) != name}

    @property
    def key(self) -> tuple[str, ...]:
        """The fields that tell prompts apart where no column holds an id."""
        if {"prompt_id", "position"} & {*self.sample}:
            return ()
        return tuple(name for name in ("text", "target") if name in self.sample)


def guess(columns: Sequence[str], objects: bool = False) -> Guess:
    """What columns most likely are, by their names alone.

    Args:
        columns: names as they stand in the file.
        objects: whether a column may hold lists and objects (not so in CSV).
    """
    names = {plain_name(column): column for column in reversed(columns)}
    run_fields = [name for name in RUN_FIELDS if name not in _SHARED]
    sample_fields: Sequence[str] = SAMPLE_FIELDS
    if not objects:
        run_fields = [name for name in run_fields if name not in RECORD_FIELDS]
        sample_fields = [name for name in SAMPLE_FIELDS if name != "choices"]
    run = _chosen(run_fields, RUN_NAMES, names)
    sample = _chosen(sample_fields, SAMPLE_NAMES, names)
    metadata = {name: names[name] for name in METADATA_NAMES if name in names}
    metric, filter_ = names.get("metric", ""), names.get("filter", "")
    scores = _scores(names, bool(metric))
    used = {*run.values(), *sample.values(), *metadata.values(), metric, filter_}
    used |= {column for _, column in scores}
    unused = tuple(column for column in columns if column not in used)
    return Guess(run, sample, metadata, scores, metric, filter_, unused)


def plain_name(column: str) -> str:
    """A column's name as it is compared: ``Question ID`` is ``question_id``."""
    return re.sub(r"[\s\-.]+", "_", column.strip()).lower()


def path_of(column: str) -> str:
    """The field path of a column, in quotes where its name has characters with a meaning."""
    try:
        path = parse_path(column)
    except PathError:
        path = None
    if path is not None and path.root == "row" and not path.up and path.steps == (column,):
        return column
    return '"' + re.sub(r'(["\\])', r"\\\1", column) + '"'


def _chosen(fields: Collection[str], usual: dict[str, tuple[str, ...]], names: dict[str, str]) -> dict[str, str]:
    found = {}
    for name in fields:
        known = next((word for word in (name, *usual.get(name, ())) if word in names), None)
        if known is not None:
            found[name] = names[known]
    return found


def _scores(names: dict[str, str], named: bool) -> tuple[tuple[str, str], ...]:
    """Metric and column of each column of scores."""
    there = [name for name in SCORE_NAMES if name in names]
    if named:
        first = next((name for name in ("score", "value", *there) if name in names), None)
        return (("", names[first]),) if first else ()
    if "value" in there and (len(there) > 1 or "prompt_id" not in names):
        there.remove("value")  # which may be anything
    return tuple((SCORE_NAMES[name], names[name]) for name in there)
