"""Tables without a mapping: the usual names of columns say what they are, the values of the columns of
scores how they are read (docs/mappings.md)."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.common.jsonl import unpacked_start
from warehouse.importers.common.patterns import Pattern
from warehouse.importers.common.streams import FORMATS
from warehouse.importers.tabular.chunks import View
from warehouse.importers.tabular.columns import as_list, encode, text_of
from warehouse.importers.tabular.delimited import delimiter_of, unique_names
from warehouse.importers.tabular.expressions import Recode
from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping import RECORD_FIELDS, RUN_FIELDS, SAMPLE_FIELDS, TabularMapping
from warehouse.importers.tabular.score_words import ScoreValues
from warehouse.records import Candidate, SourceFiles, parse_json

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
    columns = {}
    for name in fields:
        known = next((word for word in (name, *usual.get(name, ())) if word in names), None)
        if known is not None:
            columns[name] = names[known]
    return columns


def _scores(names: dict[str, str], named: bool) -> tuple[tuple[str, str], ...]:
    """Metric and column of each column of scores."""
    there = [name for name in SCORE_NAMES if name in names]
    if named:
        first = next((name for name in ("score", "value", *there) if name in names), None)
        return (("", names[first]),) if first else ()
    if "value" in there and (len(there) > 1 or "prompt_id" not in names):
        there.remove("value")  # which may be anything
    return tuple((SCORE_NAMES[name], names[name]) for name in there)


# --- tables whose names suffice -------------------------------------------------------------------

_NEEDED = ("model", "benchmark")
_HEAD_BYTES = 65_536


def carries_names(candidate: Candidate) -> bool:
    """Whether a file is a table that names prompts (by an id or their text) and scores: model and
    benchmark may be columns too, or set by the user."""
    guessed = guess(_columns(candidate.path, candidate.head))
    return bool(guessed.scores) and bool(guessed.key or "prompt_id" in guessed.sample)


def plain_columns(source: SourceFiles, values: Mapping[str, Any]) -> Guess:
    """What the columns of a table are by their names.

    Args:
        source: one file.
        values: header fields that the user set, which need no column.

    Raises:
        InputError: columns that every table must have are missing.
    """
    path = source.files[0]
    with path.open("rb") as stream:
        names = _columns(path, stream.read(_HEAD_BYTES))
    guessed = guess(names, objects=_format(path) not in ("csv", "tsv"))
    missing = [name for name in _NEEDED if name not in values and name not in guessed.run]
    if "prompt_id" not in guessed.sample and not guessed.key:
        missing.append("prompt_id")
    if missing or not guessed.scores:
        options = [f"--default {name}=NAME" for name in missing if name in _NEEDED]
        raise InputError(
            f"no column {', '.join(missing) or 'score'}",
            path=source.name,
            expected="columns model, benchmark, prompt_id and score",
            advice=(f"say {' '.join(options)}, or " if options else "")
            + "let `warehouse mapping FILE` begin a mapping for --map",
        )
    return guessed


def canonical_mapping(guessed: Guess) -> dict[str, Any]:
    """The mapping that a table's own column names amount to."""
    sample: dict[str, Any] = {name: path_of(column) for name, column in guessed.sample.items()}
    if "target" in guessed.key:  # not every question has one
        sample["target"] = {"path": sample["target"], "optional": True}
    parts: dict[str, Any] = {
        "run": {name: path_of(column) for name, column in guessed.run.items()},
        "sample": sample,
        "metadata": {name: path_of(column) for name, column in guessed.metadata.items()},
        "scores": [dict(_score(guessed, *pair)) for pair in guessed.scores],
    }
    return parts | ({"key": list(guessed.key)} if guessed.key else {})


def _score(guessed: Guess, metric: str, column: str) -> Iterator[tuple[str, Any]]:
    yield "metric", metric or {"path": path_of(guessed.metric)}
    yield "value", path_of(column)
    if guessed.filter:
        yield "filter", {"path": path_of(guessed.filter)}


def _format(path: Path) -> str:
    """The format that a plain file's name promises, ``""`` if it promises none."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return FORMATS.get(inner.suffix.lower(), "")


def _columns(path: Path, head: bytes) -> Sequence[str]:
    """Names of the columns of a plain file, as far as they can be told from its beginning."""
    kind = _format(path)
    if path.suffix.lower() == ".gz":
        head = unpacked_start(head)
    elif kind == "parquet" and head.startswith(b"PAR1"):
        return _parquet_columns(path)
    head = head.removeprefix(BOM_UTF8)
    line = head.lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    if kind in ("csv", "tsv"):
        rows = csv.reader([line.strip("\r")], delimiter=delimiter_of(line, kind))
        with contextlib.suppress(csv.Error):  # then no importer knows the file
            return unique_names(next(rows, []))
    if kind == "json" and head.lstrip().startswith(b"["):
        return _first_keys(head)
    return _keys(line) if kind == "jsonl" else []


def _parquet_columns(path: Path) -> list[str]:
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return []  # damaged: whoever reads it will say so


def _first_keys(head: bytes) -> list[str]:
    """Keys of the first record of a list, if all of it stands in the beginning of the file."""
    text = head.decode("utf-8", "replace").lstrip().removeprefix("[").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return []
    return list(record) if isinstance(record, dict) else []


def _keys(line: str) -> list[str]:
    try:
        record = parse_json(line)
    except ValueError:
        return []
    return list(record) if isinstance(record, dict) else []


# --- what the values add --------------------------------------------------------------------------

_HOW = "--higher-is-better or --lower-is-better"


@dataclass
class PlainTable:
    """What is learnt of a table while its runs are surveyed.

    Args:
        columns: which column is what.
        stated: whether higher is better, where the user said it.
        delimiter: what parts the cells; a comma where nothing does.
    """

    columns: Guess
    stated: bool | None = None
    delimiter: str = ","
    _values: dict[tuple[str, str], ScoreValues] = field(default_factory=dict)

    def paths(self) -> set[str]:
        """Field paths that have to be read for that."""
        columns = {column for _, column in self.columns.scores}
        return {path_of(column) for column in columns | {self.columns.metric} if column}

    def learn(self, view: View) -> None:
        """Take in some rows."""
        for metric, column in self.columns.scores:
            values = view.column(path_of(column))
            if metric:
                self._of(metric, column).learn(values, view.size)
            else:
                self._learn_named(view, column, as_list(values, view.size))

    def settled(self, mapping: TabularMapping) -> TabularMapping:
        """The mapping with what the values tell: words as numbers, directions of metrics."""
        recodes = {path_of(column): Recode(**_frozen(keys)) for column, (keys, _) in self._readings().items() if keys}
        variants = tuple(
            replace(
                variant,
                scores=tuple(
                    replace(rule, value=replace(rule.value, recode=recodes[path]))
                    if (path := next(rule.value.paths(), "")) in recodes
                    else rule
                    for rule in variant.scores
                ),
            )
            for variant in mapping.variants
        )
        return replace(mapping, variants=variants)

    def metrics(self) -> dict[str, dict[str, Any]]:
        """What is known of metrics by their names and values."""
        if self.stated is not None:
            return {}
        return {name: {"kind": "binary", "higher_is_better": True} for name in self._truths()}

    def notes(self, name: str) -> Iterator[str]:
        """What the owner of the table should know.

        Args:
            name: the file's name.
        """
        renamed = [f"{column} as {field}" for field, column in self.columns.renamed.items()]
        if renamed:
            yield f"columns taken by their usual names: {', '.join(renamed)}"
        if self.columns.unused:
            yield (
                f"columns not used: {', '.join(self.columns.unused)}; `warehouse mapping {name}` "
                "writes a mapping that can use them"
            )
        for column, (_, meaning) in self._readings().items():
            if meaning:
                yield f"{column}: {meaning}"
        if self.stated is None:
            yield from self._directions()

    def _directions(self) -> Iterator[str]:
        truths = self._truths()
        if truths:
            yield (f"only 0 and 1 in {', '.join(truths)}: taken as higher is better; --lower-is-better says otherwise")
        open_ones = [name for name in self._by_metric() if name not in truths]
        if open_ones:
            yield f"whether a higher {', '.join(open_ones)} is better is not known: say {_HOW}"

    def _of(self, metric: str, column: str) -> ScoreValues:
        return self._values.setdefault((metric, column), ScoreValues())

    def _learn_named(self, view: View, column: str, values: list[Any]) -> None:
        codes, names = encode(view.column(path_of(self.columns.metric)), view.size)
        for code, name in enumerate(names):
            if name is None:
                continue  # the row is rejected for it
            rows = np.flatnonzero(codes == code).tolist()
            chosen = [values[row] for row in rows]
            self._of(str(text_of(name)), column).learn(chosen, len(chosen))

    def _readings(self) -> dict[str, tuple[dict[str, Any], str]]:
        """How each column of scores is read; a column with several metrics as it stands."""
        if not all(metric for metric, _ in self.columns.scores):
            return {}
        return {column: values.reading(self.delimiter) for (_, column), values in self._values.items()}

    def _by_metric(self) -> dict[str, ScoreValues]:
        return {metric: values for (metric, _), values in sorted(self._values.items())}

    def _truths(self) -> list[str]:
        """Metrics whose values are right or wrong, and whose name says which is which."""
        return [name for name, values in self._by_metric().items() if name in OF_TRUTH and values.is_truth]


def _frozen(keys: dict[str, Any]) -> dict[str, Any]:
    """The keys of an expression as :class:`Recode` takes them."""
    frozen = dict(keys)
    if "null" in frozen:
        frozen["null"] = tuple(frozen["null"])
    if "pattern" in frozen:
        frozen["pattern"] = Pattern(frozen["pattern"])
    return frozen
