"""Tables without a mapping: the usual names of columns say what they are, the values of
the columns of scores how they are read (docs/mappings.md).
"""

from __future__ import annotations

import contextlib
import csv
import json
import math
import re
import shlex
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.common.jsonl import open_text, unpacked_start
from warehouse.importers.common.patterns import Pattern
from warehouse.importers.common.streams import (
    Member,
    members,
    parquet_place,
    read_exactly,
)
from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.column_names import (
    OF_TRUTH,
    SCORE_NAMES,
    Guess,
    guess,
    guess_votes,
    path_of,
    plain_name,
)
from warehouse.importers.tabular.columns import (
    Codes,
    Column,
    Unfit,
    as_list,
    encode,
    number_of,
    text_of,
    to_number,
    to_text,
)
from warehouse.importers.tabular.constant_columns import ConstantColumns, leaves_at
from warehouse.importers.tabular.delimited import (
    delimiter_of,
    unique_names,
    without_sep,
)
from warehouse.importers.tabular.expressions import Recode
from warehouse.importers.tabular.mapping import ScoreRule, TabularMapping
from warehouse.importers.tabular.readers import flavour_of
from warehouse.importers.tabular.runs import summaries
from warehouse.records import Candidate, SourceFiles, parse_json

_RIGHT = frozenset("yes y t correct right pass passed success ok ✓ ✔ ✔️ ✅ ☑".split())
_WRONG = frozenset("no n f incorrect wrong fail failed failure ✗ ✘ ✖ ✖️ ❌ ☒".split())
#: Such words that a judge says of a response; classes of questions are called yes and
#: no, too.
VERDICTS = (_RIGHT | _WRONG) - {"yes", "y", "t", "no", "n", "f", "ok"}
#: How 1 and 0 are written among such words.
_NUMBERS = {
    "1": 1,
    "0": 0,
    "1.0": 1,
    "0.0": 0,
    "true": 1,
    "false": 0,
    "True": 1,
    "False": 0,
    "TRUE": 1,
    "FALSE": 0,
}
#: Texts that stand for a missing score.
NULL_WORDS = frozenset(
    {"na", "n/a", "#n/a", "null", "none", "-", "--", "–", "—", "?", "missing"}
)
PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")
_COMMA = re.compile(r"[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+")
#: Distinct texts that are remembered; a column with more is no column of scores.
_MOST = 32
#: Fields that tell rows of one prompt apart.
_OF_ROWS = ("position", "draw", "perturbation", "fewshot_draw", "template")
#: Numbers that often stand for no score.
_MARKS = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0)


@dataclass
class ScoreValues:
    """The values of one metric, as far as they decide how to read it."""

    binary: bool = True  #: every number so far is 0 or 1.
    numbers: bool = False  #: whether there was any number.
    #: distinct values that are no numbers, as they stand, at most 33 of them; of
    #: numbers in words one of each form.
    forms: dict[object, str] = field(default_factory=dict)
    low: float = math.inf  #: the least number apart from marks, and the greatest.
    high: float = -math.inf
    #: numbers that may stand for no score.
    marks: set[float] = field(default_factory=set)

    def learn(self, column: Column, size: int) -> None:
        """Take in some values; nulls, NaN and empty texts tell nothing."""
        array = _numbers(column, size)
        if array is not None:
            self._take_numbers(array)
        else:
            self.learn_values(encode(column, size)[1])

    def learn_values(self, values: Iterable[Any]) -> None:
        """Take in distinct values, one by one."""
        for value in values:
            number = number_of(value)
            if isinstance(number, Unfit):
                if len(self.forms) <= _MOST:
                    text = str(text_of(value))
                    self.forms.setdefault(_form(text), text)
            elif number is not None:
                self.numbers = True
                self.binary &= number in (0, 1)
                self._learn_ends(number, number)

    def _learn_ends(self, low: float, high: float) -> None:
        if low in _MARKS and low == high:
            self.marks.add(float(low))
        else:
            self.low, self.high = min(self.low, low), max(self.high, high)

    @property
    def texts(self) -> list[str]:
        """The values that are no numbers."""
        return [*self.forms.values()]

    def unread(self, delimiter: str) -> str | None:
        """A text like ``85 %`` that is a number to people, and none beside the plain
        numbers of this column."""
        if not self.numbers or self.reading(delimiter)[0]:
            return None
        return next((text for form, text in self.forms.items() if form != text), None)

    @property
    def is_marked(self) -> bool:
        """True if a -1 (-9, -99 …) stands beside numbers from 0: what judges write
        where they gave none. Beside 1 alone it is a loss beside a win."""
        return (
            bool(self.marks)
            and 0 <= self.low <= self.high
            and (self.low == 0 or self.high > 1)
        )

    @property
    def marked(self) -> str:
        """The farthest mark, and what it stands beside."""
        usual = f"{self.low:g} to {self.high:g}"
        return f"{min(self.marks):g} beside {usual}"

    @property
    def is_truth(self) -> bool:
        """True if all values are 0 or 1, true or false, or words for them."""
        words = {text for text in self.texts if plain(text) not in NULL_WORDS}
        return self.binary and _are_words(words) and (self.numbers or bool(words))

    @property
    def are_verdicts(self) -> bool:
        """True if all values are what a judge says of a response."""
        words = {plain(text) for text in self.texts} - NULL_WORDS
        return not self.numbers and bool(words) and words <= VERDICTS

    def reading(self, delimiter: str = ",") -> tuple[dict[str, Any], str]:
        """Keys of an expression that turn the texts into numbers, and what they do in
        words.

        Args:
            delimiter: what parts the cells; where it is a comma, ``0,5`` is no number.

        Returns:
            nothing at all where the values are numbers already, or no numbers at all.
        """
        nulls = sorted(text for text in self.texts if plain(text) in NULL_WORDS)
        words = [text for text in self.texts if text not in nulls]
        keys, meaning = _keys(words, self, delimiter)
        if words and not keys:
            return {}, ""
        if nulls:
            keys = {"null": nulls} | keys
            meaning = ", ".join(
                filter(None, [f"{' and '.join(map(repr, nulls))} = missing", meaning])
            )
        return keys, meaning

    def _take_numbers(self, array: pa.Array) -> None:
        finite = array.filter(pc.is_finite(array))
        if len(finite):
            self.numbers = True
            is_binary = pc.is_in(finite, pa.array([0.0, 1.0]))
            self.binary &= bool(pc.all(is_binary).as_py())
            are_marks = pc.is_in(finite, pa.array(_MARKS))
            self.marks.update(pc.unique(finite.filter(are_marks)).to_pylist())
            if len(others := finite.filter(pc.invert(are_marks))):
                self._learn_ends(*pc.min_max(others).as_py().values())


def plain(text: str) -> str:
    """A word as it is compared."""
    return text.strip().lower()


def _keys(
    words: list[str], values: ScoreValues, delimiter: str
) -> tuple[dict[str, Any], str]:
    if not words or len(values.forms) > _MOST:
        return {}, ""
    if values.binary and _are_words(words):
        numbers = {word: int(plain(word) in _RIGHT) for word in sorted(words)}
        numbers |= _NUMBERS if values.numbers else {}
        meanings = [f"{word!r} = {numbers[word]}" for word in sorted(words)]
        meaning = ", ".join(meanings)
        return {"values": numbers}, meaning
    if not values.numbers and all(map(PERCENT.fullmatch, map(plain, words))):
        decimal = {}
        if any("," in word for word in words):
            decimal = {"decimal": ","}
        return {
            "pattern": "[^%]+",
            **decimal,
            "scale": 0.01,
        }, "percent are divided by 100"
    if delimiter != "," and all(map(_COMMA.fullmatch, map(plain, words))):
        return {"decimal": ","}, "decimal commas"
    return {}, ""


def _form(text: str) -> object:
    """The form of all texts that are read as this one is; a text that is no
    number is alone."""
    word = plain(text)
    return next(
        ((form, "," in word) for form in (PERCENT, _COMMA) if form.fullmatch(word)),
        text,
    )


def _are_words(words: Iterable[str]) -> bool:
    return all(plain(word) in _RIGHT or plain(word) in _WRONG for word in words)


def _numbers(column: Column, size: int) -> pa.Array | None:
    """The column as numbers if it is an Arrow array of nothing else."""
    if not isinstance(column, pa.Array):
        return None
    if pa.types.is_string(column.type):
        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
    converted = to_number(column, size)
    if converted.faults:
        return None
    return converted.array


# --- tables whose names suffice -------------------------------------------------------------------

_NEEDED = ("model", "benchmark")
_HEAD_BYTES = 65_536
# many small tables of the same columns come one after the other
_guess, _guess_votes = lru_cache(maxsize=64)(guess), lru_cache(maxsize=64)(guess_votes)


def carries_names(candidate: Candidate) -> bool:
    """True if a file is a table that names prompts (by an id or their text) and scores:
    model and benchmark may be columns too, or set by the user. Or two models and which
    of them did better."""
    columns = tuple(_columns(candidate.path, candidate.head))
    guessed = _guess(columns)
    return (
        bool(_guess_votes(columns))
        or bool(guessed.scores)
        and bool(guessed.key or "prompt_id" in guessed.sample)
    )


def without_scores(path: Path) -> str:
    """The error of a table that names prompts, and has no column that is called as
    scores are; else empty."""
    try:
        names = _head_columns(path)
    except OSError:
        return ""  # which the walk has said
    found = _guess(tuple(names))
    if found.scores or not (found.key or "prompt_id" in found.sample):
        return ""
    more = ""
    if len(found.unused) > 8:
        more = f" and {len(found.unused) - 8} more"
    other = ""
    if found.unused:
        other = f"; unknown: {', '.join(found.unused[:8])}{more}"
    return (
        f"{path.name} has none of the columns {', '.join(SCORE_NAMES)}, which hold "
        f"scores{other}"
    )


def plain_columns(source: SourceFiles, values: Mapping[str, Any]) -> Guess:
    """Columns of a table by what their names say.

    Args:
        source: one file.
        values: header fields that the user set, which need no column.

    Raises:
        InputError: columns that every table must have are missing.
    """
    path = source.files[0]
    names = _head_columns(path)
    guessed = _guess(tuple(names), objects=may_hold_objects(path))
    missing = [
        name for name in _NEEDED if name not in values and name not in guessed.run
    ]
    if "prompt_id" not in guessed.sample and not guessed.key:
        missing.append("prompt_id")
    if missing or not guessed.scores:
        options = [f"--default {name}=NAME" for name in missing if name in _NEEDED]
        choice = ""
        if options:
            choice = f"say {' '.join(options)}, or "
        raise InputError(
            f"no column {', '.join(missing) or 'score'}",
            path=source.name,
            expected=(
                "columns model, benchmark, prompt_id and one of "
                f"{', '.join(SCORE_NAMES)}"
            ),
            advice=choice
            + "let `warehouse mapping FILE` begin a mapping for --map"
            + (
                ", which can take the model from names of files or folders"
                if "model" in missing
                else ""
            ),
        )
    return guessed


#: Where Arena's dumps keep the first message of a conversation, and the lengths of both
#: answers.
_OPENING = "conversation_a[0].content"
_LENGTHS = {side: f"conv_metadata.sum_assistant_{side}_tokens" for side in "ab"}


def vote_mapping(
    source: SourceFiles, values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]] | None:
    """The mapping that the column names of a table of votes amount to, and what its
    owner should know; ``None`` if it is none.

    Args:
        source: one file.
        values: header fields that the user set, which need no column.

    Raises:
        InputError: nothing says on which benchmark they are.
    """
    path = source.files[0]
    names = _head_columns(path)
    parts = _guess_votes(tuple(names))
    if not parts:
        return None
    if "benchmark" not in parts["run"] and "benchmark" not in values:
        raise InputError(
            "nothing says on which benchmark these votes are",
            path=source.name,
            expected="a column benchmark, beside both models and the winner",
            advice=(
                "say --default benchmark=NAME, or --map MAPPING (warehouse mapping "
                "--list)"
            ),
        )
    used = set(chain.from_iterable(part.values() for part in parts.values()))
    mapping: dict[str, Any] = {}
    for part, fields in parts.items():
        mapping[part] = {
            name: {"path": path_of(column), "optional": True}
            for name, column in fields.items()
        }
    if "text" not in parts["sample"] and "conversation_a" in names:
        mapping["sample"]["text"] = {"path": _OPENING, "optional": True}
        used |= {"conversation_a", "conversation_b"}
    if "prompt_id" not in parts["sample"] and "text" in mapping["sample"]:
        mapping["key"] = ["text"]
    if "conv_metadata" in names:
        sides = {side: {"path": at, "optional": True} for side, at in _LENGTHS.items()}
        mapping["votes"]["covariates"] = {"length": sides}
        used.add("conv_metadata")
    notes = []
    if "first" not in parts["votes"]:
        mapping["votes"]["first"] = {"const": "a"}
        first = parts["votes"]["model_a"]
        notes.append(
            f"the answer of {first} is taken for the one that was shown first; a "
            "column `first` says otherwise"
        )
    unused = [name for name in names if name not in used]
    if unused:
        notes.append(f"columns not used: {', '.join(unused)}")
    return mapping, notes


def canonical_mapping(guessed: Guess, settings: Sequence[str] = ()) -> dict[str, Any]:
    """The mapping that a table's own column names amount to.

    Args:
        settings: columns that are settings of the runs.
    """
    sample: dict[str, Any] = {
        name: path_of(column) for name, column in guessed.sample.items()
    }
    if "target" in guessed.key:  # not every question has one
        sample["target"] = {"path": sample["target"], "optional": True}
    parts: dict[str, Any] = {
        "run": {name: path_of(column) for name, column in guessed.run.items()},
        "sample": sample,
        "metadata": {
            name: path_of(column) for name, column in guessed.metadata.items()
        },
        "scores": [dict(_score(guessed, *pair)) for pair in guessed.scores],
    }
    if guessed.scorer:
        parts["scorer"] = {
            name: path_of(column) for name, column in guessed.scorer.items()
        }
    if settings:
        parts["run"]["configuration"] = {name: path_of(name) for name in settings}
    if guessed.key:
        return parts | {"key": list(guessed.key)}
    return parts


def _score(guessed: Guess, metric: str, column: str) -> Iterator[tuple[str, Any]]:
    yield "metric", metric or {"path": path_of(guessed.metric)}
    yield "value", path_of(column)
    if guessed.filter:
        yield "filter", {"path": path_of(guessed.filter)}


def _format(path: Path) -> str:
    """The format that a file's name promises, or that of the first table in an archive;
    ``""`` if none."""
    return members(path, path.name)[0].format


def may_hold_objects(path: Path) -> bool:
    """True if a cell of a file may hold a list or an object."""
    return _format(path) not in ("csv", "tsv")


def _head_columns(path: Path) -> Sequence[str]:
    with path.open("rb") as stream:
        return _columns(path, stream.read(_HEAD_BYTES))


def _columns(path: Path, head: bytes) -> Sequence[str]:
    """Names of the columns of a file, as far as they can be told from its beginning; of
    an archive those that all its tables have."""
    if path.suffix.lower() == ".zip":
        with contextlib.suppress(
            InputError
        ):  # hostile or damaged, or nothing in it is a table
            return _shared_names(members(path, path.name))
        return []
    kind = _format(path)
    if path.suffix.lower() == ".gz":
        head = unpacked_start(head)
    elif kind == "parquet" and head.startswith(b"PAR1"):
        return _parquet_columns(path)
    elif (
        kind == "jsonl" and b"\n" not in head and head.startswith(b"{")
    ):  # a first row of megabytes
        with open_text(path) as handle:
            head = handle.readline(bounds.MAX_DOCUMENT_BYTES)
    return _names_in(kind, head)


def _shared_names(tables: Sequence[Member]) -> Sequence[str]:
    """Names of the columns that all tables have; none where some differ, or the first
    has none."""
    first = _names_in(tables[0].format, _head(tables[0]))
    if not first:
        return []
    for member in tables[1:]:
        if _names_in(member.format, _head(member)) != first:
            return []
    return first


def _head(member: Member) -> bytes:
    with member.open() as stream:
        return read_exactly(stream, _HEAD_BYTES)


def _names_in(kind: str, head: bytes) -> Sequence[str]:
    """Names of the columns of a table of some format from its beginning."""
    head = head.removeprefix(BOM_UTF8)
    line = head.lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    if kind in ("csv", "tsv"):
        text, mark = without_sep(head.decode("utf-8", "replace"))
        line = text.lstrip("\r\n").partition("\n")[0]
        rows = csv.reader(
            [line.strip("\r")], delimiter=mark or delimiter_of(line, kind)
        )
        with contextlib.suppress(csv.Error):  # then no importer knows the file
            return unique_names(next(rows, []))
    if kind not in ("json", "jsonl"):
        return []
    if flavour_of(head.lstrip(), kind) == "jsonl":
        return _keys_of_line(line)
    if head.lstrip().startswith(b"["):
        return _first_keys(head)
    return []


def _parquet_columns(path: Path) -> list[str]:
    try:
        with parquet_place(path) as place:
            return list(pq.read_schema(place).names)
    except (pa.ArrowException, OSError):
        return []  # damaged: whoever reads it will say so


def _first_keys(head: bytes) -> list[str]:
    """Keys of the first record of a list, if all of it stands in the beginning of the
    file."""
    text = head.decode("utf-8", "replace").lstrip().removeprefix("[").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(record, dict):
        return list(record)
    return []


def _keys_of_line(line: str) -> list[str]:
    with contextlib.suppress(ValueError):
        record = parse_json(line)
        if isinstance(record, dict):
            return list(record)
        return []
    return []


# --- what the values add --------------------------------------------------------------------------

_HOW = "--higher-is-better or --lower-is-better"


@dataclass
class PlainTable:
    """A table, with what is learnt of it while its runs are surveyed."""

    columns: Guess  #: which column is what.
    higher_is_better: bool | None = None  #: where the user said it.
    delimiter: str = ","  #: what parts the cells; a comma where nothing does.
    #: columns that tell runs of one prompt apart, which are settings of the runs.
    crossed: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()  #: columns of one value in each run.
    _values: dict[tuple[str, str], ScoreValues] = field(default_factory=dict)
    #: those of a target that is called ``label``.
    _labels: ScoreValues = field(default_factory=ScoreValues)

    def __post_init__(self) -> None:
        self.constants = ConstantColumns(
            {column: path_of(column) for column in self.columns.unused}
        )

    def with_objects(self, view: RowView) -> PlainTable:
        """The same where columns of objects are no property of the prompt, but may hold
        settings leaf by leaf.

        Args:
            view: the first rows.
        """
        objects = {
            name: column
            for name, column in self.columns.metadata.items()
            if leaves_at(view, path_of(column))
        }
        if not objects:
            return self
        metadata = {
            name: column
            for name, column in self.columns.metadata.items()
            if name not in objects
        }
        unused = (*self.columns.unused, *objects.values())
        return replace(
            self, columns=replace(self.columns, metadata=metadata, unused=unused)
        )

    def shortlist(self, view: RowView) -> None:
        """Choose what may be a setting, of columns and of the leaves of those that hold
        objects, by the first rows."""
        for column in self.columns.unused:
            self.constants.add(leaves_at(view, path_of(column), name=column))
        self.constants.shortlist(view)

    def again(self, crossed: Sequence[str]) -> PlainTable:
        """Nothing learnt yet, but for columns that tell runs apart."""
        unused = tuple(name for name in self.columns.unused if name not in crossed)
        columns = replace(self.columns, unused=unused)
        return PlainTable(
            columns, self.higher_is_better, self.delimiter, tuple(crossed)
        )

    def paths(self) -> set[str]:
        """Field paths that have to be read for that."""
        columns = {column for _, column in self.columns.scores}
        columns |= {self.columns.metric, self._label, self._name}
        return {
            path_of(column) for column in columns if column
        } | self.constants.paths()

    def key(self) -> list[str]:
        """Field paths that tell the rows of a run apart."""
        sample = self.columns.sample
        if "prompt_id" in sample:
            names = ["prompt_id"]
        else:
            names = list(self.columns.key)
        names += [name for name in _OF_ROWS if name in sample]
        columns = [sample[name] for name in names]
        columns += [
            column for column in (self.columns.metric, self.columns.filter) if column
        ]
        return [path_of(column) for column in columns]

    @property
    def _name(self) -> str:
        """The column by which prompts are called."""
        return self.columns.sample.get("prompt_id") or self.columns.sample.get(
            "text", ""
        )

    @property
    def _label(self) -> str:
        """The column ``label``, where it is taken for the right answer; else empty."""
        column = self.columns.sample.get("target", "")
        if plain_name(column) == "label":
            return column
        return ""

    def learn(self, view: RowView, runs: Codes) -> None:
        """Take in some rows; those that sum up others are no scores of prompts, and may
        be written otherwise.

        Args:
            view: the rows.
            runs: number of the run of each row, -1 where it has none; shape (rows,).
        """
        if self._name:
            names = to_text(
                view.column(path_of(self._name)), view.size, labels=True
            ).array
            sums = pc.fill_null(summaries(names), False)
            if pc.any(sums).as_py():
                kept = np.flatnonzero(~np.asarray(sums))
                view, runs = (
                    replace(view, chunk=view.chunk.keep(kept.tolist())),
                    runs[kept],
                )
                names = names.take(pa.array(kept))
            self.constants.learn_prompts(names, runs)
        self.constants.learn(view, runs)
        if self._label:
            self._labels.learn_values(
                encode(view.column(path_of(self._label)), view.size)[1]
            )
        for metric, column in self.columns.scores:
            values = view.column(path_of(column))
            if metric:
                self._values.setdefault((metric, column), ScoreValues()).learn(
                    values, view.size
                )
            else:
                self._learn_named(view, column, as_list(values, view.size))

    def settled(self, mapping: TabularMapping, name: str) -> TabularMapping:
        """The mapping with what the values tell: words as numbers, directions, verdicts
        that are no target.

        Args:
            mapping: what the names of columns amount to.
            name: the file's name.

        Raises:
            InputError: numbers of a column are written in forms of which one alone
                would be read.
        """
        if (
            self._labels.are_verdicts
        ):  # which would make other prompts of those that one model has right
            unused = (*self.columns.unused, self._label)
            sample = {
                name: column
                for name, column in self.columns.sample.items()
                if name != "target"
            }
            self.columns = replace(self.columns, sample=sample, unused=unused)
            kept = []
            for part in mapping.variants:
                own = {name: part.sample[name] for name in sample}
                kept.append(replace(part, sample=own))
            mapping = replace(mapping, key=self.columns.key, variants=tuple(kept))
        for metric, values in self._by_metric().items():
            if values.is_marked and min(values.marks) < min(
                -9, -values.high
            ):  # too far off to be a score
                raise InputError(
                    f"{values.marked} in scores of {metric}",
                    path=name,
                    expected="an empty cell where there is no score",
                    advice=(
                        f"`warehouse mapping {name}` begins a mapping for --map, with "
                        "what to do about it"
                    ),
                )
            text = values.unread(self.delimiter)
            if text is not None:
                raise InputError(
                    f"{text!r} beside plain numbers in scores of {metric}",
                    path=name,
                    expected=(
                        f"numbers of one form, or --map; `warehouse mapping {name}` "
                        "begins a mapping"
                    ),
                )
        recodes = {
            path_of(column): _recode(keys)
            for column, (keys, _) in self._readings().items()
            if keys
        }

        def reread(rule: ScoreRule) -> ScoreRule:
            recode = recodes.get(next(rule.value.paths(), ""))
            if recode is None:
                return rule
            return replace(rule, value=replace(rule.value, recode=recode))

        variants = (
            replace(part, scores=tuple(map(reread, part.scores)))
            for part in mapping.variants
        )
        return replace(mapping, variants=tuple(variants))

    def metrics(self) -> dict[str, dict[str, Any]]:
        """Metrics, by their names and values."""
        if self.higher_is_better is not None:
            return {}
        return {
            name: {"kind": "binary", "higher_is_better": True}
            for name in self._truths()
        }

    def notes(self, name: str) -> Iterator[str]:
        """Notes for the owner of the table.

        Args:
            name: the file, as it is named to a shell.
        """
        renamed = [
            f"{column} as {field}" for field, column in self.columns.renamed.items()
        ]
        if renamed:
            yield f"columns taken by their usual names: {', '.join(renamed)}"
        if self.columns.scorer:
            yield (
                f"who scored is taken from {', '.join(self.columns.scorer.values())}: "
                "people, each judge and each scorer are figures of their own"
            )
        taken = [*self.crossed, *self.settings]
        if taken:
            ignore = (
                "`warehouse benchmarks settings BENCHMARK --ignore "
                f"{shlex.quote(taken[0])}`"
            )
            yield (
                f"columns taken as settings of the runs: {', '.join(taken)}; of one "
                f"that means nothing {ignore} says so"
            )
        if self.columns.unused:
            yield (
                f"columns not used: {', '.join(self.columns.unused)}; `warehouse "
                f"mapping {name}` writes a mapping that can use them"
            )
        for column, (_, meaning) in self._readings().items():
            if meaning:
                yield f"{column}: {meaning}"
        for metric, values in self._by_metric().items():
            if values.is_marked:
                yield (
                    f"{metric} is {values.marked}, and counts as such; if it stands "
                    f"for no score, `warehouse mapping {name}` begins a mapping that "
                    "leaves it out"
                )
        if self.higher_is_better is None:
            yield from self._directions()

    def _directions(self) -> Iterator[str]:
        truths = self._truths()
        if truths:
            yield (
                f"only 0 and 1 in {', '.join(truths)}: taken as higher is better; "
                "--lower-is-better says otherwise"
            )
        others = [name for name in self._by_metric() if name not in truths]
        if others:
            yield (
                f"whether a higher {', '.join(others)} is better is not known: say "
                f"{_HOW}"
            )

    def _learn_named(self, view: RowView, column: str, values: list[Any]) -> None:
        codes, names = encode(view.column(path_of(self.columns.metric)), view.size)
        for code, name in enumerate(names):
            if name is not None:  # else the row is rejected
                chosen = [values[row] for row in np.flatnonzero(codes == code).tolist()]
                key = (str(text_of(name)), column)
                self._values.setdefault(key, ScoreValues()).learn(chosen, len(chosen))

    def _readings(self) -> dict[str, tuple[dict[str, Any], str]]:
        """How each column of scores is read; a column with several metrics as it
        stands."""
        if not all(metric for metric, _ in self.columns.scores):
            return {}
        return {
            column: values.reading(self.delimiter)
            for (_, column), values in self._values.items()
        }

    def _by_metric(self) -> dict[str, ScoreValues]:
        return {metric: values for (metric, _), values in sorted(self._values.items())}

    def _truths(self) -> list[str]:
        """Metrics whose values are right or wrong, and whose name says which is
        which."""
        return [
            name
            for name, values in self._by_metric().items()
            if name in OF_TRUTH and values.is_truth
        ]


def _recode(keys: Mapping[str, Any]) -> Recode:
    """The keys of an expression."""
    parts = {**keys, "null": tuple(keys.get("null", ()))}
    if "pattern" in keys:
        parts["pattern"] = Pattern(keys["pattern"])
    return Recode(**parts)
