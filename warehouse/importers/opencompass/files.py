"""Files of one model and data set of OpenCompass, read and put together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.common.json_fields import items_of
from warehouse.importers.common.jsonl import read_document, require_content
from warehouse.records import Rejection, parse_json

#: Largest configuration that is looked through, in bytes.
LARGEST_CONFIG = 8 << 20
CORRECT = ("correct", "is_correct", "cascade_correct")
#: What details have once for each repeat, beside a verdict.
_ONCE_EACH = ("pred", "answer", "prediction", "rule_evaluation")
_GRADE = re.compile("A|B")

Row = dict[str, Any]


@dataclass
class OpenCompassOutput:
    """Files of OpenCompass on one model and data set (InputError: a file is damaged,
    or of another kind)."""

    root: Path
    files: tuple[Path, ...]
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def _data(self) -> list[Path]:
        return [path for path in self.files if path.suffix in (".json", ".jsonl")]

    @cached_property
    def model(self) -> str:
        """The folder of the model: its ``abbr``, with that of a judge behind it."""
        return self._data[0].parent.name

    @cached_property
    def dataset(self) -> str:
        """``abbr`` of the data set."""
        first = self._data[0]
        stem = first.stem
        if first.parent.parent.name == "results":
            return stem
        if first.suffix == ".jsonl":
            return stem.removeprefix("tmp_")
        if len(self._parts) > 1:
            return stem.rpartition("_")[0]
        return stem

    @cached_property
    def _parts(self) -> list[Path]:
        return [path for path in self._data if path.parent.parent.name == "predictions"]

    @cached_property
    def results(self) -> Row:
        """The file of results; empty where there is none."""
        paths = [path for path in self._data if path.parent.parent.name == "results"]
        document: Row = {}
        if paths:
            document = read_document(paths[0])
        return document

    @property
    def is_unfinished(self) -> bool:
        """True if there is only what an interrupted run left."""
        return any(path.suffix == ".jsonl" for path in self._parts)

    @cached_property
    def predictions(self) -> list[Row]:
        """All predictions in their order; parts count from 0 each."""
        predictions: list[Row] = []
        for path in self._parts:
            require_content(path)
            if path.suffix == ".jsonl":
                predictions += self._lines(path)
            else:
                predictions += self._numbered(path)
        return predictions

    @cached_property
    def details(self) -> list[list[Row]]:
        """Details of each sample: one for each repeat. Empty where there are none."""
        entries = self.results.get("details")
        listed = entries
        if isinstance(entries, dict):
            numbers = sorted((key for key in entries if key.isdecimal()), key=int)
            listed = [entries[number] for number in numbers]
        details = [_repeats(item) for item in items_of(listed)]
        if entries and not any(details):
            self.notes.append("details are of a form that is not known: left out")
            return []
        n_samples = len(self.predictions) // max(map(len, details), default=1)
        # evaluators leave out what they cannot parse, and the rest moves up
        if 0 < len(details) < n_samples:
            self.notes.append(
                f"details of {len(details)} of {n_samples} samples, and not of which: "
                "left out"
            )
            return []
        return details

    @cached_property
    def is_judged(self) -> bool:
        """True if a judge's words are the only verdicts, and what they say is the
        published figure."""
        details = list(chain.from_iterable(self.details))
        if not details or any(_said(detail) is not None for detail in details):
            return False
        named = (
            (name, value)
            for name, value in self.results.items()
            if name.startswith(("acc", "score"))
        )
        figures = (value for _, value in named if type(value) in (int, float))
        return bool(
            abs(next(figures, -1) - 100 * sum(map(_is_praised, details)) / len(details))
            < 1e-6
        )

    def verdict(self, detail: Row) -> bool | None:
        """True if a detail says that the answer is right."""
        if self.is_judged and detail:
            return _is_praised(detail)
        return _said(detail)

    def is_unread(self, detail: Row) -> bool:
        """True if a judge's reply names no grade: the answer then counts as wrong."""
        if "origin_grade_response" in detail:
            return not re.search("[ABC]", str(detail["origin_grade_response"]))
        return (
            self.is_judged
            and bool(detail)
            and not _GRADE.search(str(detail.get("prediction")))
        )

    @cached_property
    def repeats(self) -> int:
        """How often the data set was asked."""
        longest = max((len(item) for item in self.details), default=1)
        if longest > 1:
            return longest
        for name in self.results:
            head, _, tail = str(name).rpartition(" (")
            number = tail.partition(" runs average)")[0]
            if head and number.isdecimal() and 0 < int(number[:6]) < 100_000:
                return int(number)
        return 1

    @cached_property
    def models(self) -> list[Row]:
        """Settings of all models in the configuration."""
        return models_of(self.files, self.notes)

    def _numbered(self, path: Path) -> list[Row]:
        document = read_document(path)
        predictions = []
        for index in range(len(document)):
            row = document.get(str(index))
            if not isinstance(row, dict):
                where = f"{path.name} entry {index}"
                self.rejections.append(Rejection(where, str(row)[:200], "a prediction"))
                row = {}
            predictions.append(row)
        return predictions

    def _lines(self, path: Path) -> list[Row]:
        rows_by_index: dict[int, Row] = {}
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if not line.strip():
                continue
            try:
                row = parse_json(line)
                if not isinstance(row, dict) or type(row.get("idx")) not in (int, str):
                    raise ValueError("no object with an idx")
                index = int(row["idx"])
                if not 0 <= index < 10_000_000:
                    raise ValueError(f"idx {index}")
                rows_by_index[index] = row
            except (ValueError, RecursionError) as error:
                where = f"{path.name} line {number}"
                self.rejections.append(
                    Rejection(where, str(error)[:300], "a prediction")
                )
        return [
            rows_by_index.get(i, {}) for i in range(max(rows_by_index, default=-1) + 1)
        ]


def models_of(files: Iterable[Path], notes: list[str]) -> list[Row]:
    """Entries of a configuration among the files that have a name and a path; its
    code is read, never run."""
    for path in files:
        if path.suffix == ".py" and path.stat().st_size <= LARGEST_CONFIG:
            try:
                return list(_named(ast.parse(path.read_bytes())))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                notes.append(f"{path.name} cannot be read as Python: left out")
    return []


def _said(detail: Row) -> bool | None:
    """The verdict of a detail, of a cascade that needed no judge that of its rule."""
    rule = detail.get("rule_evaluation")
    correct = None
    if isinstance(rule, dict):
        correct = rule.get("correct")
    values = (
        *(detail.get(key) for key in CORRECT),
        correct,
    )
    return next(
        (
            bool(value)
            for value in values
            if type(value) in (bool, int) and value in (0, 1)
        ),
        None,
    )


def _is_praised(detail: Row) -> bool:
    """True if the first grade that a judge names is that of right answers."""
    grade = _GRADE.search(str(detail.get("prediction")))
    return grade is not None and grade[0] == "A"


def _repeats(item: Any) -> list[Row]:
    """The details of a sample as one object for each repeat."""
    if not isinstance(item, dict):
        return []
    lists = {key: value for key, value in item.items() if isinstance(value, list)}
    sizes = {len(lists[key]) for key in (*CORRECT, *_ONCE_EACH) if key in lists}
    if "example_abbr" not in item or len(sizes) != 1:
        return [item]
    size = sizes.pop()
    of_each = {key: values for key, values in lists.items() if len(values) == size}
    repeats = []
    for index in range(size):
        own = {key: values[index] for key, values in of_each.items()}
        repeats.append({**item, **own})
    return repeats


def _named(tree: ast.AST) -> Iterator[Row]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Call, ast.Dict)):
            value = _value(node)
            if (
                isinstance(value, dict)
                and isinstance(value.get("abbr"), str)
                and "path" in value
            ):
                yield value


def _value(node: ast.AST) -> Any:
    """The value of a literal; ``None`` for anything that would have to be run."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (str, int, float, bool)):
            return node.value
        return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand)
        if isinstance(value, (int, float)):
            return -value
        return None
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        keys = (_value(key) if key is not None else None for key in node.keys)
        pairs = zip(keys, node.values, strict=True)
        return {key: _value(value) for key, value in pairs if isinstance(key, str)}
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "dict"
    ):
        return {item.arg: _value(item.value) for item in node.keywords if item.arg}
    return None


HEADING = "dataset,version,metric,mode,"
#: Larger files are no summary, in bytes.
LARGEST_BYTES = 64 << 20

_BLOCK = "csv format"
_VERSION = re.compile(r"[0-9a-f]{6}")
_NONE = "-"
_BOM = "\ufeff"


@dataclass(frozen=True)
class OpenCompassLine:
    """A line of the table: a data set or group, and a figure of each model."""

    dataset: str
    version: str
    metric: str
    mode: str
    figures: tuple[str, ...]

    @property
    def is_group(self) -> bool:
        """True if it is about several data sets: these have no prompt of their own."""
        return _VERSION.fullmatch(self.version) is None

    @property
    def formulation(self) -> str | None:
        """How was asked: ``gen``, ``ppl``, ``ll``; none where that is unknown or
        mixed."""
        if self.mode in ("gen", "ppl", "ll"):
            return self.mode
        return None


@dataclass(frozen=True)
class OpenCompassTable:
    """Names of the models, the lines, and places of lines that are none."""

    models: tuple[str, ...]
    lines: tuple[OpenCompassLine, ...]
    faults: tuple[tuple[str, str], ...]


def is_summary(path: Path) -> bool:
    """True if a file is a summary by its name."""
    named = path.name.startswith("summary_") and path.suffix in (".csv", ".txt")
    return named and path.parent.name == "summary"


def read_table(path: Path) -> OpenCompassTable:
    """A summary: the file with commas, or the part of the text file that is like it.

    Raises:
        InputError: it cannot be read, or has no table.
    """
    try:
        bounds.refuse_large(path, LARGEST_BYTES, "for a summary")
        text = path.read_text(encoding="utf-8").removeprefix(_BOM)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read: {error}",
            path=str(path),
            expected="a summary of OpenCompass",
        ) from None
    if path.suffix == ".txt":
        text = text.partition(f"\n{_BLOCK}\n")[2]
    lines = list(_table(text))
    if not lines:
        raise InputError(
            f"no line begins with '{HEADING}'",
            path=str(path),
            expected="a summary of OpenCompass",
        )
    models = tuple(lines[0][1].split(",")[4:])
    result_lines: list[OpenCompassLine] = []
    faults: list[tuple[str, str]] = []
    for number, line in lines[1:]:
        # commas inside are blanks already, and nothing is quoted
        parts = line.split(",")
        if len(parts) != 4 + len(models):
            faults.append((f"{path.name} line {number}", line[:200]))
        elif parts[2] != _NONE:  # else a heading, or without results
            result_lines.append(
                OpenCompassLine(
                    parts[0], parts[1], parts[2], parts[3], tuple(parts[4:])
                )
            )
    return OpenCompassTable(models, tuple(result_lines), tuple(faults))


def prompt_version(
    files: Iterable[Path], dataset: str, notes: list[str]
) -> tuple[str | None, str | None]:
    """Hash of a data set's prompt and how was asked, by a summary among the files. One
    that cannot be read takes nothing from the results."""
    path = next((path for path in files if is_summary(path)), None)
    try:
        if path:
            lines = read_table(path).lines
        else:
            lines = ()
    except InputError as error:
        notes.append(f"the summary is left out: {error}")
        return None, None
    for line in lines:
        if line.dataset == dataset.replace(",", " ") and not line.is_group:
            return line.version, line.formulation
    return None, None


def _table(text: str) -> Iterator[tuple[int, str]]:
    """Lines of the table with their numbers, the heading first."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = inside or line.startswith(HEADING)
        if inside and (not line or line.startswith("$$$")):
            return
        if inside:
            yield number, line
