"""Features that go with difficulty and discrimination of prompts: length, options,
position of the right answer, fields.

Madaan et al. (2024) figure 8, Siska et al. (2024) §7. One feature at a time, by least
squares over prompts with cluster-robust errors: prompts are a sample, these models are
not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.groups import grouped
from warehouse.analysis.items.feature_view import VALUE, FeatureReport, FeatureRow
from warehouse.analysis.items.question import ItemFeatures
from warehouse.analysis.matrix.read import MatrixData, matrix_of
from warehouse.analysis.selection.prompts import expected_answer, options
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.text.parts import FIELD, document_of, prompt_rows
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats.items.discrimination import (
    MODELS_FOR_RAW,
    correlations,
    mean_correlations,
)
from warehouse.stats.items.features import CONSTANT, joint_test, slope
from warehouse.stats.multiple.adjust import holm
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import field_at

Floats = NDArray[np.float64]

#: Prompts of a value from which on it is compared with the rest.
ENOUGH = 20
#: Values of a field beyond which they are names, and no groups.
MOST_VALUES = 40
#: Models below which every correlation over them is 1 or -1.
_MODELS = 3
HAS = "has:"
_OWN = ("length", "options", "position")
_OF_SLOPE = (
    "estimate",
    "standard_error",
    "ci_low",
    "ci_high",
    "df",
    "p_value",
    "flags",
    "reason",
)
#: Numbers from here on, of which squares are none, count as unknown.
_LARGEST = 1e150
#: A number that a table has as text.
_NUMBER = re.compile(r"\s*[-+]?\d+(\.\d+)?([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class _Feature:
    """A feature of every prompt of a matrix."""

    name: str
    #: NaN where it is missing, shape (n,); None for values.
    numbers: Floats | None = None
    #: the values that each prompt has, None where it is missing; of numbers none.
    values: Sequence[frozenset[str] | None] = ()

    @property
    def present(self) -> NDArray[np.bool_]:
        """Prompts that have it."""
        if self.numbers is not None:
            return ~np.isnan(self.numbers)
        return np.array([value is not None for value in self.values], np.bool_)


@answers(ItemFeatures)
def item_features(store: Store, question: ItemFeatures) -> FeatureReport:
    """Slopes and differences of the figures of prompts."""
    scores = select_entries(store, selection_of(question))
    data = matrix_of(store, scores, gaps=True)
    notes = list(data.notes)
    features = _features(store, data, question.by, notes)
    labels = scores.clusters.labels(data.prompts)
    rows: list[FeatureRow] = []
    for figure, y in _figures(data, notes):
        for feature in features:
            rows.extend(_rows(figure, y, feature, labels, question.level))
    rows, n_tests = _adjusted(rows)
    size = (len(data.prompts), len(data.models))
    return FeatureReport(
        data.benchmark,
        data.metric,
        *size,
        question.level,
        n_tests,
        tuple(rows),
        tuple(notes),
    )


def _figures(data: MatrixData, notes: list[str]) -> Iterator[tuple[str, Floats]]:
    """Each figure of the prompts, NaN where it is not defined, shape (n,)."""
    answered = (~np.isnan(data.values)).sum(axis=1)
    n_models = len(data.models)
    if data.higher_is_better is False:
        notes.append(
            "lower scores are better: what raises the mean score makes prompts harder"
        )
    yield "mean score", np.nanmean(data.values, axis=1)
    corrected = np.where(answered < _MODELS, math.nan, correlations(data.values.T)[1])
    yield "discrimination", corrected
    yield (
        "correlation",
        mean_correlations(data.values)
        if n_models >= _MODELS
        else np.full(len(answered), math.nan),
    )
    lost = int(np.isnan(corrected).sum())
    if lost:
        notes.append(
            f"{lost} prompts have no discrimination: all models score alike, or fewer "
            "than three answered"
        )
    if (complete := int((answered == n_models).sum())) < len(answered):
        notes.append(
            f"correlation is of the {complete} prompts alone that every model answered"
        )
    if n_models < MODELS_FOR_RAW:
        notes.append(
            f"correlations over {n_models} models are mostly noise, which hides what "
            "goes with them"
        )


def _features(
    store: Store, data: MatrixData, by: Sequence[str], notes: list[str]
) -> list[_Feature]:
    """The features that were asked for, else all that can be compared; notes say what
    cannot."""
    rows = _prompts(store, data)
    parts = chain.from_iterable(_split(text) for text in by)
    stripped = (part.strip() for part in parts)
    names = list(dict.fromkeys(filter(None, stripped)))
    told = chain.from_iterable(row["document"].items() for row in rows)
    fields = sorted({name for name, value in told if value is not None})
    if names:
        found = [_named(name, rows, fields) for name in names]
    else:
        named = (*_OWN, *(f"{FIELD}{name}" for name in fields))
        there = (_named(name, rows, fields) for name in named)
        by_reason = grouped(there, _unfit)
        found = by_reason.pop("", [])
        why = []
        for reason, left in by_reason.items():
            why.append(f"{reason}: {', '.join(feature.name for feature in left)}")
        notes += [f"left out, {note}" for note in why]
        if not found:
            raise MisuseError(
                f"nothing is known of the prompts of {data.benchmark} that could be "
                f"compared ({'; '.join(why)}); load them with their texts, choices or "
                "metadata"
            )
    for feature in found:
        missing = int((~feature.present).sum())
        if 0 < missing < len(rows):
            notes.append(
                f"{feature.name}: {missing} of {len(rows)} prompts do not have it and "
                "are left out"
            )
    return found


def _split(text: str) -> list[str]:
    """Names between commas; a text that is looked for may hold some."""
    if text.startswith(HAS):
        return [text]
    return text.split(",")


def _prompts(store: Store, data: MatrixData) -> list[dict[str, Any]]:
    """The prompts that features are made of, in the order of the matrix."""
    rows = prompt_rows(
        store, f"{FIELD}*", "prompt.id in (:ids)", {"ids": data.prompts.tolist()}
    )
    found = {
        row["id"]: row | {"document": document_of(row), "metadata": None}
        for row in rows
    }
    return [found[prompt] for prompt in data.prompts.tolist()]


def _unfit(feature: _Feature) -> str:
    """Why a feature is not looked at unless it is asked for; empty where it is."""
    present = feature.present
    if not present.any():
        return "no prompt has it"
    if feature.numbers is not None:
        numbers = feature.numbers[present]
        if (numbers == numbers[0]).all():
            return CONSTANT
        whole = (numbers == np.round(numbers)).all() and feature.name.startswith(FIELD)
        if whole and len(np.unique(numbers)) == len(numbers):
            return "another number for each prompt"
        return ""
    if len({*feature.values} - {None}) == 1:
        return CONSTANT
    counts = _counts(feature.values)
    if len(counts) > MOST_VALUES:
        return f"more than {MOST_VALUES} values"
    if max(counts.values()) >= ENOUGH:
        return ""
    return f"no value that {ENOUGH} prompts have"


def _counts(values: Sequence[frozenset[str] | None]) -> Counter[str]:
    """Prompts of each value."""
    return Counter(chain.from_iterable(own or () for own in values))


def _named(
    name: str, rows: Sequence[Mapping[str, Any]], fields: Sequence[str]
) -> _Feature:
    """A feature by its name (MisuseError: there is none of this name)."""
    if name.startswith(HAS) and len(name) > len(HAS):
        phrase = name.removeprefix(HAS)
        contains = [
            None if row["text"] is None else phrase in row["text"] for row in rows
        ]
        return _Feature(name, values=[_value(has) for has in contains])
    if name.startswith(FIELD):
        values = [field_at(row["document"], name.removeprefix(FIELD)) for row in rows]
        if all(value is None for value in values):
            there = ", ".join(fields[:MOST_VALUES]) or "none"
            raise MisuseError(f"no prompt has {name}; fields there are: {there}")
        return _field(name, values)
    if name in ("length", "words", "options"):
        parts = [
            options(row["choices"])
            if name == "options"
            else (row["text"] or "").split()
            for row in rows
        ]
        numbers = np.array([len(part) or math.nan for part in parts])
        scaled = numbers
        if name == "length":
            scaled = np.log2(numbers)
        return _Feature(name, scaled)
    if name == "position":
        first = 1
        if any(_is_index(row) and int(row["target"]) == 0 for row in rows):
            first = 0
        return _Feature(name, values=[_position(row, first) for row in rows])
    raise MisuseError(
        f"unknown feature {name!r}; there are: length, words, options, position, "
        "has:TEXT, metadata.FIELD"
    )


def _is_index(row: Mapping[str, Any]) -> bool:
    """True if the target is the number of an option."""
    target = str(row["target"]).strip()
    return target.isdecimal() and target not in options(row["choices"])


def _position(row: Mapping[str, Any], first: int) -> frozenset[str] | None:
    """Where the right answer stands among the options, from 1 on; numbers of options
    count from ``first``."""
    offered = options(row["choices"])
    if _is_index(row):
        position = int(row["target"]) - first
    else:
        answer = expected_answer(row)
        position = -1
        if answer is not None and offered.count(answer) == 1:
            position = offered.index(answer)
    if 0 <= position < len(offered):
        return frozenset({str(position + 1)})
    return None


def _field(name: str, values: Sequence[Any]) -> _Feature:
    """A field of documents: numbers, or values, of which a list has several."""
    present = [value for value in values if _value(value) is not None]
    if all(_is_number(value) for value in present):
        numbers = np.array(
            [float(value) if _is_number(value) else math.nan for value in values]
        )
        if len(np.unique(numbers[~np.isnan(numbers)])) > 2:
            return _Feature(
                name, np.where(np.abs(numbers) < _LARGEST, numbers, math.nan)
            )
    return _Feature(name, values=[_value(value) for value in values])


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(value: Any) -> frozenset[str] | None:
    if isinstance(value, list):
        return frozenset(
            chain.from_iterable(_value(element) or () for element in value)
        )
    if value is None or isinstance(value, dict) or str(value).strip() == "":
        return None
    return frozenset(
        {{True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)}
    )


def _rows(
    figure: str,
    y: Floats,
    feature: _Feature,
    labels: NDArray[np.int64] | None,
    level: float,
) -> Iterator[FeatureRow]:
    """A feature against a figure: the slope, or the joint test and each value against
    the rest."""
    used = feature.present & ~np.isnan(y)
    y, groups = y[used], None if labels is None else labels[used]
    n = len(y)
    row = FeatureRow(
        figure,
        feature.name,
        None,
        "slope",
        n,
        None,
        None if groups is None else len(np.unique(groups)),
    )
    if feature.numbers is not None:
        yield _with_slope(row, y, feature.numbers[used], groups, level)
        return
    values = [
        own or frozenset()
        for own, is_used in zip(feature.values, used.tolist(), strict=True)
        if is_used
    ]
    counts = _counts(values)
    enough = [
        value for value, count in counts.most_common() if ENOUGH <= count <= n - ENOUGH
    ]
    columns = {}
    for value in enough[:MOST_VALUES]:
        columns[value] = np.array([value in own for own in values], np.float64)
    have_one = all(len(own) == 1 for own in values)
    mirrored = len(counts) == 2 and have_one
    if mirrored and columns:  # one value against the rest says it all
        first = "yes" if "yes" in columns else min(columns)
        columns = {first: columns[first]}
    if not columns or not mirrored:
        yield _joint_row(replace(row, kind="joint"), y, columns, values, groups)
    for value, column in columns.items():
        own = replace(
            row,
            level=value,
            kind="difference" if mirrored else VALUE,
            n_level=counts[value],
        )
        yield _with_slope(own, y, column, groups, level)


def _with_slope(
    row: FeatureRow,
    y: Floats,
    x: Floats,
    groups: NDArray[np.int64] | None,
    level: float,
) -> FeatureRow:
    if not len(y):
        return replace(row, reason="no prompt has both")
    found = slope(y, x, groups, level=level)
    figures: dict[str, Any] = {name: getattr(found, name) for name in _OF_SLOPE}
    if row.kind == "slope" and found.estimate is not None:
        per_sd = {
            "per_sd": "estimate",
            "per_sd_low": "ci_low",
            "per_sd_high": "ci_high",
        }
        figures |= {
            name: figures[of] * float(x.std(ddof=1)) for name, of in per_sd.items()
        }
    return replace(row, **figures)


def _joint_row(
    row: FeatureRow,
    y: Floats,
    columns: Mapping[str, Floats],
    values: Sequence[frozenset[str]],
    groups: NDArray[np.int64] | None,
) -> FeatureRow:
    """All values together; one of those that leave none over stands for the rest."""
    if not columns:
        return replace(
            row, reason=f"no value that {ENOUGH} prompts have and {ENOUGH} have not"
        )
    tested = list(columns)
    if all(len(own) == 1 and own <= set(tested) for own in values):
        tested = tested[1:]
    found = joint_test(y, np.column_stack([columns[value] for value in tested]), groups)
    return replace(
        row,
        statistic=found.statistic,
        df=found.df_error,
        p_value=found.p_value,
        flags=found.flags,
        reason=found.reason,
    )


def _adjusted(rows: Sequence[FeatureRow]) -> tuple[list[FeatureRow], int]:
    """p-values after Holm: tests of features together, and values among one another;
    the number of the first."""
    is_part = np.array([row.kind == VALUE for row in rows], np.bool_)
    p = np.array([math.nan if row.p_value is None else row.p_value for row in rows])
    adjusted = np.full(len(rows), math.nan)
    for kind in (is_part, ~is_part):
        adjusted[kind] = holm(p[kind])
    p_values = [None if math.isnan(value) else value for value in adjusted.tolist()]
    found = [
        replace(row, p_holm=p_holm) for row, p_holm in zip(rows, p_values, strict=True)
    ]
    return found, int((~np.isnan(p[~is_part])).sum())
