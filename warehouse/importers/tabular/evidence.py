"""What the rows of a table say of its columns, whatever these are called.

Rows of one prompt are compared: a column that is equal in all of them is a property of
the prompt, one that differs between models is a response, a score or a verdict. Where a
file holds one model, files beside it that hold the same prompts are asked too.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from warehouse.importers.tabular.column_profiles import ColumnProfile

Codes = np.ndarray[Any, np.dtype[np.int64]]

#: Share of the rows that an id may leave to faults of a table: repeated, or missing.
_FAULTS = 0.02
#: Share of all pairs of a model and a prompt from which on models are run on the same
#: prompts.
_MOST_CELLS = 0.7
#: Prompts in which a text may differ, of which one in so many was written otherwise.
_MISPRINTS = 100


#: Prompts of several rows from which on these say anything.
_LEAST = 3


class Standing(enum.Enum):
    """What decides the value of a column in a row."""

    CONSTANT = "one value in all rows"
    OF_PROMPT = "depends on the prompt alone"
    OF_MODEL = "depends on the model alone"
    OUTCOME = "differs between rows of one prompt"
    UNKNOWN = "no prompt stands in rows of several models"


@dataclass(frozen=True)
class Rows:
    """The rows of a table, and of files beside it that hold the same prompts.

    Args:
        codes: path of a column -> number of the value of each row, -1 where it has
            none; shape (rows,).
        files: number of the file of each row; shape (rows,).
        others: the files beside the table, in the order of their numbers.
    """

    codes: dict[str, Codes]
    files: Codes
    others: tuple[Path, ...] = ()

    @property
    def n_files(self) -> int:
        """How many files are compared."""
        return int(self.files.max(initial=0)) + 1


class Evidence:
    """What the rows say, given which columns name models and which prompts."""

    def __init__(
        self,
        rows: Rows,
        models: Sequence[ColumnProfile] = (),
        prompts: Sequence[ColumnProfile] = (),
    ) -> None:
        self.rows = rows
        self.models = list(models)
        self.prompts = list(prompts)

    @staticmethod
    def one_file(n_rows: int) -> Codes:
        """The number of the file of each row, where there is one."""
        return np.zeros(n_rows, np.int64)

    @cached_property
    def _prompt_codes(self) -> Codes:
        return self.combined(self.prompts)

    @cached_property
    def _model_codes(self) -> Codes:
        codes = self.combined(self.models)
        return _pairs(codes, self.rows.files)

    def combined(self, columns: Sequence[ColumnProfile]) -> Codes:
        """A number for each combination of values of some columns; shape (rows,)."""
        codes = np.zeros(self.rows.files.size, np.int64)
        for column in columns:
            codes = _pairs(codes, self.rows.codes[column.path])
        return codes

    @property
    def compares(self) -> bool:
        """True if prompts are known, and some stand in several rows."""
        return bool(self.prompts) and self._repeated.size >= _LEAST

    @cached_property
    def _repeated(self) -> Codes:
        """The prompts that stand in several rows."""
        counts = np.bincount(self._prompt_codes)
        return np.flatnonzero(counts > 1)

    @cached_property
    def _compares_models(self) -> bool:
        """True if some prompts stand in rows of several models."""
        pairs = np.unique(np.stack([self._prompt_codes, self._model_codes]), axis=1)
        models_of_prompt = np.bincount(pairs[0])
        return int((models_of_prompt > 1).sum()) >= _LEAST

    def standing(self, column: ColumnProfile) -> Standing:
        """What decides the value of a column."""
        return self.standing_at(column.path)

    def standing_at(self, path: str) -> Standing:
        """What decides the value at a path."""
        codes = self.rows.codes.get(path)
        if codes is None:
            return Standing.UNKNOWN
        if np.unique(codes).size <= 1:
            return Standing.CONSTANT
        if not self.compares:
            return Standing.UNKNOWN
        differing = self._n_differing(codes)
        if differing * _MISPRINTS <= self._repeated.size:
            # draws of one model may be equal, too
            return Standing.OF_PROMPT if self._compares_models else Standing.UNKNOWN
        if _is_function(codes, self._model_codes):
            return Standing.OF_MODEL
        return Standing.OUTCOME

    def n_differing(self, column: ColumnProfile) -> int:
        """In how many prompts of several rows a column differs; rows without a value
        say nothing."""
        return self._n_differing(self.rows.codes[column.path])

    def _n_differing(self, codes: Codes) -> int:
        filled = codes >= 0
        prompts = self._prompt_codes[filled]
        found = np.unique(_pairs(prompts, codes[filled]), return_index=True)[1]
        values_of_prompt = np.bincount(prompts[found])
        return int((values_of_prompt > 1).sum())

    @property
    def n_repeated(self) -> int:
        """How many prompts stand in several rows."""
        return int(self._repeated.size)

    def names_prompts(self, column: ColumnProfile) -> bool:
        """True if a column tells the rows of each model apart, and several models (or
        files) have its values in common."""
        codes = self.rows.codes[column.path]
        filled = codes >= 0
        if filled.sum() < (1 - _FAULTS) * codes.size:
            return False
        codes = codes[filled]
        models = self._model_codes[filled]
        rows = _pairs(models, codes)
        n_rows = np.unique(rows).size
        if n_rows < (1 - _FAULTS) * rows.size:
            return False
        n_models = np.unique(models).size
        n_prompts = np.unique(codes).size
        if n_models < 2 or n_rows < 2 * n_models:
            return False  # a row for each model, as in a leaderboard
        return bool(n_prompts > 1 and n_rows >= 1.5 * n_prompts)

    def repeats(self, column: ColumnProfile) -> int:
        """How often each value of a column stands in the rows of each model, where that
        is equally often, twice or more: as prompts of several draws do; 0 where it is
        not."""
        codes = self.rows.codes[column.path]
        if (codes < 0).any():
            return 0
        rows, counts = np.unique(
            np.stack([self._model_codes, codes]), axis=1, return_counts=True
        )
        n_models = np.unique(self._model_codes).size
        n_values = np.unique(codes).size
        is_even = counts.min() == counts.max() and counts.min() > 1
        if is_even and rows.shape[1] == n_models * n_values:
            return int(counts.min())
        return 0

    def crosses(self, column: ColumnProfile, prompts: ColumnProfile) -> bool:
        """True if each of a few values of a column has (nearly) all prompts, equally
        often."""
        codes = self.rows.codes[column.path]
        others = self.rows.codes[prompts.path]
        if (codes < 0).any() or (others < 0).any():
            return False
        n_values = np.unique(codes).size
        n_prompts = np.unique(others).size
        if n_values < 2 or n_prompts < 2:
            return False
        counts = np.unique(_pairs(codes, others), return_counts=True)[1]
        usual = int(np.median(counts))
        is_even = (counts == usual).mean() >= 1 - _FAULTS
        return bool(is_even and counts.size >= _MOST_CELLS * n_values * n_prompts)


def bounds(earned: ColumnProfile, possible: ColumnProfile) -> bool:
    """True if numbers of a column are from 0 to those of another in each row, as points
    are beside full marks."""
    if not (earned.is_number and possible.is_number):
        return False
    points = _numbers(earned)
    marks = _numbers(possible)
    both = ~(np.isnan(points) | np.isnan(marks))
    if both.sum() < 2:
        return False
    is_positive = bool((marks[both] > 0).all() and (points[both] >= 0).all())
    is_within = bool((points[both] <= marks[both]).all())
    return is_positive and is_within and bool(marks[both].max() > 1)


def _numbers(column: ColumnProfile) -> np.ndarray[Any, Any]:
    """The numbers of a column by row, NaN where there is none; shape (rows,)."""
    numbers = [float(value) for value in column.numbers]
    if len(numbers) != len(column.values):
        return np.full(column.codes.size, np.nan)
    by_row: np.ndarray[Any, Any] = np.append(np.array(numbers, float), np.nan)
    return np.asarray(by_row[column.codes])


def _pairs(first: Codes, second: Codes) -> Codes:
    """A number for each pair of numbers, from 0; shape (rows,)."""
    if not first.size:
        return first
    width = int(second.max()) + 2
    found: Codes = np.unique(first * width + (second + 1), return_inverse=True)[1]
    return found.reshape(-1)


def _is_function(values: Codes, groups: Codes) -> bool:
    """True if rows of one group have one value."""
    n_groups = np.unique(groups).size
    return bool(np.unique(_pairs(groups, values)).size == n_groups)
