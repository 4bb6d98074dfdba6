"""A file of lighteval's details, its metrics, and the figures that its results file
has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.json_fields import (
    as_items,
    first_of,
    items_of,
    number_or_none,
)
from warehouse.importers.common.streams import open_parquet
from warehouse.records import Candidate, Link, MetricKind, MetricSpec, PublishedScore
from warehouse.records.canonical_json import sha256_of

READ_ROWS = 200
#: What a file may unpack to: more than any real one, less than what stops a machine.
LARGEST = 64 << 30
#: Columns that no field of the store takes, and that can be larger than everything
#: else.
UNREAD = (
    "model_response.logits",
    "doc.fewshot_samples",
    "pred_logits",
    "prediction_logits",
)

_NAME = re.compile(
    r"details_(.+)_(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)\.parquet",
    re.DOTALL,
)
_STAMP = re.compile(
    r"_(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)\.(?:json|parquet)$"
)

Row = dict[str, Any]


def is_details(candidate: Candidate) -> bool:
    """True if a file is named as details are."""
    return _NAME.fullmatch(candidate.path.name) is not None


def stamp_of(path: Path) -> str:
    """The time stamp in a file's name: what joins details and results."""
    match = _STAMP.search(path.name)
    if match:
        return match[1]
    return ""


def safe_name(task: str) -> str:
    """A task's name as copies of the files have it.

    >>> safe_name("leaderboard|mmlu:anatomy|5")
    'leaderboard__mmlu__anatomy__5'
    """
    return re.sub(r"[|:]", "__", task)


class Details:
    """A file of details (InputError: no Parquet file, or not one of lighteval's).

    Args:
        tasks: names of tasks that the results file knows.
    """

    def __init__(self, path: Path, tasks: Sequence[str] = ()) -> None:
        self.path, self._tasks = path, tasks
        names = set(self.schema.names)
        if not (
            {"doc", "metric", "model_response"} <= names
            or {"metrics", "example"} <= names
        ):
            raise InputError(
                f"columns {', '.join(sorted(names))[:200]}",
                path=str(path),
                expected=(
                    "doc, metric, model_response, or example, metrics, predictions"
                ),
            )
        for name in ("doc", "model_response") if self.is_nested else ():
            kind = self.schema.field(name).type
            if not pa.types.is_struct(kind):
                raise InputError(
                    f"column '{name}' holds {kind}",
                    path=str(path),
                    expected="structures",
                )

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns of the file."""
        with open_parquet(self.path, LARGEST) as file:
            return file.schema_arrow

    @property
    def is_nested(self) -> bool:
        """True if it is of 0.11 or later."""
        return "doc" in self.schema.names

    @cached_property
    def first(self) -> Row:
        """The first row; empty where there is none."""
        return next(self.rows(), (0, {}))[1]

    @cached_property
    def task(self) -> str:
        """The task: as the rows say, else as the results file has it, else by the
        file's name."""
        task_name = None
        if self.is_nested:
            task_name = (self.first.get("doc") or {}).get("task_name")
        if isinstance(task_name, str) and task_name:
            return task_name
        named = _NAME.fullmatch(self.path.name)
        if named:
            name = named[1]
        else:
            name = self.path.stem
        fitting = [task for task in self._tasks if name in (task, safe_name(task))]
        if fitting:
            return fitting[0]
        return re.sub(r"__(\d+)$", r"|\1", name)

    @cached_property
    def metrics(self) -> dict[str, pa.DataType]:
        """Type of each metric's values."""
        column = "metrics"
        if self.is_nested:
            column = "metric"
        kind = self.schema.field(column).type
        if pa.types.is_struct(kind):
            return {field.name: field.type for field in kind}
        return {}

    def rows(self) -> Iterator[tuple[int, Row]]:
        """All rows with their 0-based numbers (InputError: the file is damaged)."""
        index = 0
        with open_parquet(self.path, LARGEST) as file:
            columns = [name for name in _leaves(file.schema_arrow) if _is_read(name)]
            for batch in file.iter_batches(READ_ROWS, columns=columns):
                batch.validate(full=True)
                for row in batch.to_pylist():
                    yield index, plain(row)
                    index += 1


def plain(value: Any) -> Any:
    """A value with bytes (images) as their hashes."""
    if isinstance(value, bytes):
        return f"sha256:{sha256_of(value)}"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], (dict, list, bytes)):
        return [plain(item) for item in value]
    return value


def _is_read(name: str) -> bool:
    return not any(name == item or name.startswith(f"{item}.") for item in UNREAD)


def _leaves(schema: pa.Schema) -> list[str]:
    """Columns, those of the outer structs one by one."""
    leaves = []
    for column in schema:
        if pa.types.is_struct(column.type):
            inner = column.type
        else:
            inner = ()
        leaves += [f"{column.name}.{part.name}" for part in inner] or [column.name]
    return leaves


#: Perplexities: what sum(log-likelihood)/sum(weight) becomes.
_LINKS: Mapping[str, Link] = {
    "word_perplexity": "exp_neg",
    "byte_perplexity": "exp_neg",
    "bits_per_byte": "neg_over_ln2",
    "ppl": "exp_neg",
    "perplexity": "exp_neg",
}
_UNITS = {
    "word_perplexity": "nats/word",
    "byte_perplexity": "nats/byte",
    "bits_per_byte": "nats/byte",
}
_RATES = re.compile(
    r"(?:acc|em|exact_match|pem|qem|pqem|extractive_match|loglikelihood_acc|maj@|avg@|(?:\w+[_-])?(?:g-)?pass@|"
    r"f1|mrr|recall@|mcq_|prefix_|quasi_|truthfulqa_mc|faithfulness)",  # ROUGE is of either scale
    re.IGNORECASE,
)
_WORSE = re.compile(r".*perplexity|ppl|bits_per_byte|wer|cer|ter", re.IGNORECASE)
_JUDGE = re.compile(r"(?:judge_score|judgement|user_prompt)_(.+)")
_OVER_DRAWS = re.compile(r"avg@|(?:\w+_)?pass@(?:k[^\d]*k=1|1)(?!\d)", re.IGNORECASE)
_STDERR = "_stderr"


def is_text(name: str, kind: pa.DataType) -> bool:
    """True if a metric holds the prompt or the text of a judge instead of a score."""
    named = _JUDGE.fullmatch(name)
    return (
        named is not None
        and not name.startswith("judge_score")
        and not _is_number(kind)
    )


def is_over_draws(name: str) -> bool:
    """True if a metric of several draws is their mean."""
    return _OVER_DRAWS.match(name) is not None


def is_pair(kind: pa.DataType) -> bool:
    """True if values are log-likelihoods with their weights."""
    return pa.types.is_struct(kind) and {"logprobs", "weights"} == {
        item.name for item in kind
    }


def metric_specs(
    config: Mapping[str, Any], figures: Mapping[str, Any], details: Details | None
) -> tuple[MetricSpec, ...]:
    """Specifications of a task's metrics; the first of its configuration is the
    headline."""
    seen = {}
    if details is not None:
        seen = details.metrics
    rows = [name for name, kind in seen.items() if not is_text(name, kind)]
    directions = _directions(config)
    published = [name for name in figures if not _is_error(name, figures)]
    names = list(dict.fromkeys((*rows, *published)))
    specs = {name: _spec(name, seen, directions, details is not None) for name in names}
    usable = [
        name
        for name in (*directions, *names)
        if name in specs and specs[name].link != "none"
    ]
    first = first_of(usable)
    return tuple(replace(specs[name], is_default=name == first) for name in names)


def published_scores(
    figures: Mapping[str, Any],
    n: int | None,
    details: Details | None,
    benchmark: str = "",
) -> Iterator[PublishedScore]:
    """The figures of a task or group.

    Args:
        figures: metric -> figure, with ``_stderr`` beside it.
        n: number of documents.
        details: the task's rows, if there are any.
        benchmark: name of the group; empty for a task.
    """
    seen = {}
    if details is not None:
        seen = details.metrics
    for name, value in figures.items():
        if _is_error(name, figures):
            continue
        number = number_or_none(value)
        usable = details is None or _link(name, seen, True) != "none"
        statistic = "aggregate"
        if usable:
            statistic = "mean"
        raw = None
        if number is None:
            raw = str(value)[:200]
        yield PublishedScore(
            metric=name,
            value=number,
            benchmark=benchmark,
            statistic=statistic,
            standard_error=number_or_none(figures.get(name + _STDERR)),
            n=n,
            raw=raw,
        )


def _directions(config: Mapping[str, Any]) -> dict[str, bool | None]:
    """Metric -> whether higher is better, in the order of a task's configuration."""
    directions: dict[str, bool | None] = {}
    for entry in items_of(config.get("metrics", config.get("metric"))):
        if not isinstance(entry, dict):
            continue
        names = entry.get("metric_name")
        better = entry.get("higher_is_better")
        for name in as_items(names):
            if isinstance(name, str):
                own = better
                if isinstance(better, dict):
                    own = better.get(name)
                if isinstance(own, bool):
                    directions[name] = own
                else:
                    directions[name] = None
    return directions


def _spec(
    name: str,
    seen: Mapping[str, pa.DataType],
    directions: Mapping[str, bool | None],
    rows: bool,
) -> MetricSpec:
    judge = _JUDGE.fullmatch(name)
    link = _link(name, seen, rows)
    kind, low, high = _bounds(name, link)
    better = directions.get(name)
    judge_model = ""
    if judge and not judge[1].startswith("turn_"):
        judge_model = judge[1]
    unit = ""
    if link in ("exp_neg", "neg_over_ln2"):
        unit = _UNITS.get(name, "nats")
    higher_is_better = better
    if better is None and _WORSE.fullmatch(name):
        higher_is_better = False
    return MetricSpec(
        name=name,
        scorer_kind="model" if "judge" in name else "match",
        judge_model=judge_model,
        unit=unit,
        link=link,
        kind=kind,
        low=low,
        high=high,
        higher_is_better=higher_is_better,
    )


def _link(name: str, seen: Mapping[str, pa.DataType], rows: bool) -> Link:
    kind = seen.get(name)
    if kind is None:
        if rows:
            return "none"
        return _LINKS.get(name, "identity")
    if is_pair(kind):
        return _LINKS.get(name, "none")
    if _is_number(kind) or pa.types.is_null(kind):
        return "identity"
    return "none"


def _bounds(
    name: str, link: Link
) -> tuple[MetricKind | None, float | None, float | None]:
    if link in ("exp_neg", "neg_over_ln2"):
        return "continuous", None, 0.0
    if link == "none" or not _RATES.match(name):
        return None, None, None
    return "bounded", 0.0, 1.0


def _is_error(name: str, figures: Mapping[str, Any]) -> bool:
    return name.endswith(_STDERR) and name.removesuffix(_STDERR) in figures


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    )
