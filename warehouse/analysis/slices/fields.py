"""The fields of prompts: those of their documents, their split, and stored clusterings.

Bins are made of the field alone, never of scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import MisuseError, did_you_mean
from warehouse.records.canonical_json import canonical_json, parse_json
from warehouse.stats import edge_bins, quantile_bins
from warehouse.stats.slices.numeric import Bins
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import field_at
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import listed

Ids = NDArray[np.int64]

SPLIT = "split"
#: How a field of a document may be written, too: as results and ``--where`` have it.
_PREFIXES = ("prompt.", "metadata.")
#: Between the fields, and the values, of cells.
CROSS, TIMES = ",", " × "
#: Slices, beyond so many, of one prompt each on average are names, and no groups.
MOST_NAMES = 20
#: Fields that a message lists.
_LISTED = 12


@dataclass(frozen=True)
class Slicing:
    """Prompts by the values of a field."""

    name: str  #: as it was asked for.
    values: tuple[str, ...]  #: of the slices, in their order.
    #: numbers of the slices that each prompt is in, none without the field, shape (n,).
    of: tuple[tuple[int, ...], ...]
    prompts: Ids  #: ids, shape (n,).

    @property
    def overlaps(self) -> bool:
        """Whether a prompt is in several slices."""
        return any(len(own) > 1 for own in self.of)

    @property
    def n_without(self) -> int:
        """Prompts without the field."""
        return sum(not own for own in self.of)

    @cached_property
    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Place of the prompt, and number of the slice, of each prompt in a slice."""
        places: list[int] = []
        slices: list[int] = []
        for place, own in enumerate(self.of):
            places += [place] * len(own)
            slices += own
        return np.array(places, np.intp), np.array(slices, np.intp)

    def prompts_in(self, number: int) -> Ids:
        """Ids of the prompts of a slice."""
        places, slices = self.entries
        found: Ids = self.prompts[places[slices == number]]
        return found

    @property
    def prompts_with(self) -> Ids:
        """Ids of the prompts that are in any."""
        return self.prompts[[bool(own) for own in self.of]]

    @property
    def prompts_without(self) -> Ids:
        """Ids of the prompts that are in none."""
        return self.prompts[[not own for own in self.of]]


@dataclass(frozen=True)
class PromptFields:
    """Everything by which the prompts of a benchmark can be sliced."""

    benchmark: str  #: name of the benchmark, for messages.
    splits: Mapping[int, str]  #: by id of the prompt.
    documents: Mapping[int, Any]  #: its metadata, by id; None without.
    #: label of each prompt in a clustering, by the name of that.
    clusterings: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    def value(self, prompt: int, name: str) -> Any:
        """What a prompt has in a field; None without it."""
        found = field_at(self.documents.get(prompt), name)
        if found is not None:
            return found
        if name == SPLIT:
            return self.splits.get(prompt) or None
        return self.clusterings.get(name, {}).get(prompt)

    def find(self, text: str) -> str:
        """The name of a field as it is written here (MisuseError: no prompt has it;
        lists those that there are)."""
        names = [text]
        for prefix in _PREFIXES:
            if text.startswith(prefix):
                names.append(text.removeprefix(prefix))
        for name in names:
            if any(self.value(prompt, name) is not None for prompt in self.splits):
                return name
        raise MisuseError(self._unknown(names[-1]))

    def _unknown(self, name: str) -> str:
        there = self.counted()
        shown = [f"{own} ({n})" for own, n in there.items()][:_LISTED]
        more = len(there) - len(shown)
        if more > 0:
            shown.append(f"{more} more")
        words = "its prompts have no fields"
        if shown:
            words = f"there are (values): {', '.join(shown)}"
        close = did_you_mean(name, there, "")
        if close:
            words = f"{close} {words}"
        return f"no prompt of {self.benchmark} has the field {name!r}; {words}"

    def counted(self) -> dict[str, int]:
        """The fields there are, and how many values each has, few values first."""
        found: dict[str, set[str]] = {}
        for prompt, document in self.documents.items():
            for name, value in _leaves(document):
                found.setdefault(name, set()).update(_texts(value))
            if self.splits.get(prompt):
                found.setdefault(SPLIT, set()).add(self.splits[prompt])
        for name, labels in self.clusterings.items():
            found.setdefault(name, set(labels.values()))
        counts = {name: len(values) for name, values in found.items()}
        return dict(sorted(counts.items(), key=lambda item: (item[1], item[0])))

    def slicing(self, text: str, prompts: Ids, bins: str | None = None) -> Slicing:
        """Prompts by a field, or by several with commas between them (cells).

        Args:
            text: name of a field; of cells those of several.
            prompts: ids, shape (n,).
            bins: ``q:N`` or edges with commas, for fields that are numbers.

        Raises:
            MisuseError: an unknown field, bins that are none, a field that names
                prompts.
        """
        parts = self._parts(text)
        slicings = [self._one(part, prompts, bins) for part in parts]
        found = slicings[0]
        for other in slicings[1:]:
            found = _crossed(found, other)
        n_with = len(prompts) - found.n_without
        if not n_with:
            raise MisuseError(
                f"none of the {len(prompts)} prompts that were scored has {text!r}"
            )
        self._refuse_names(found, n_with)
        if len(found.values) == 1 and not found.n_without:
            raise MisuseError(_one_value(found, bins))
        return found

    def slicings(
        self, texts: Sequence[str], prompts: Ids, bins: str | None
    ) -> list[Slicing]:
        """`slicing` by each of several fields (MisuseError: also bins, where none of
        them is a number)."""
        found = [self.slicing(text, prompts, bins) for text in texts]
        if bins is not None and not self._any_number(texts, prompts):
            names = listed([one.name for one in found])
            raise MisuseError(f"{names}: no number, of which alone bins can be made")
        return found

    def _any_number(self, texts: Sequence[str], prompts: Ids) -> bool:
        for text in texts:
            for part in self._parts(text):
                if as_numbers(self._column(part, prompts)) is not None:
                    return True
        return False

    def _column(self, text: str, prompts: Ids) -> list[Any]:
        """What each prompt has in a field."""
        name = self.find(text)
        return [self.value(prompt, name) for prompt in prompts.tolist()]

    def _parts(self, text: str) -> list[str]:
        """The fields of cells, else the only one."""
        if CROSS in text and not self._has(text):
            return [part.strip() for part in text.split(CROSS)]
        return [text]

    def _has(self, name: str) -> bool:
        return any(self.value(prompt, name) is not None for prompt in self.splits)

    def _refuse_names(self, found: Slicing, n_with: int) -> None:
        n = len(found.values)
        if n > MOST_NAMES and 2 * n > n_with:
            raise MisuseError(
                f"{found.name} has {n} values on {n_with} prompts of "
                f"{self.benchmark}: too few prompts have the same; a number is cut by "
                "--bins q:4"
            )

    def _one(self, text: str, prompts: Ids, bins: str | None) -> Slicing:
        name = self.find(text)
        raw = self._column(name, prompts)
        numbers = as_numbers(raw)
        if bins is not None and numbers is not None:
            return _binned(name, prompts, numbers, bins)
        texts = [_texts(value) for value in raw]
        values = sorted(set(chain.from_iterable(texts)), key=_order)
        numbered = {value: number for number, value in enumerate(values)}
        of = tuple(tuple(numbered[value] for value in own) for own in texts)
        return Slicing(name, tuple(values), of, prompts)

    def numbers(self, text: str, prompts: Ids) -> NDArray[np.float64]:
        """A field as numbers, NaN where a prompt has none, shape (n,) (MisuseError: it
        is no number)."""
        found = as_numbers(self._column(text, prompts))
        if found is None:
            raise MisuseError(
                f"{text} of {self.benchmark} is no number, along which alone there is "
                "a slope"
            )
        return found


def read_fields(
    store: Store, benchmark_ids: Sequence[int], name: str, prompts: Ids | None = None
) -> PromptFields:
    """The fields of the prompts of a benchmark.

    Args:
        benchmark_ids: of the benchmark, and of those that are the same.
        name: of the benchmark, for messages.
        prompts: ids of prompts of others that stand for some of them (links); None:
            there are none.
    """
    template = query_text("analysis/slices", "prompt_fields")
    query = template.format(condition="benchmark_id in (:ids)")
    rows = store.rows(query, {"ids": [*benchmark_ids]})
    if prompts is not None:
        known = {row["id"] for row in rows}
        others = [prompt for prompt in prompts.tolist() if prompt not in known]
        if others:
            query = template.format(condition="id in (:ids)")
            rows += store.rows(query, {"ids": others})
    labels: dict[str, dict[int, str]] = {}
    clusters = query_text("analysis/reliability", "cluster_labels")
    for row in store.rows(clusters, {"benchmark_ids": [*benchmark_ids]}):
        labels.setdefault(row["name"], {})[row["prompt_id"]] = row["label"]
    documents = {}
    for row in rows:
        documents[row["id"]] = _document(row["metadata"])
    splits = {row["id"]: row["split"] for row in rows}
    return PromptFields(name, splits, documents, labels)


def _document(metadata: Any) -> Any:
    if isinstance(metadata, str):
        return parse_json(metadata)
    return metadata


def _leaves(document: Any, prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Fields of a document by dotted path; objects are gone into."""
    if not isinstance(document, dict):
        return
    for name, value in document.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}.")
        elif value is not None:
            yield path, value


def _texts(value: Any) -> tuple[str, ...]:
    """The values that a field gives a prompt, as texts; several of a list."""
    if value is None:
        return ()
    if isinstance(value, list):
        own = chain.from_iterable(_texts(one) for one in value)
        return tuple(dict.fromkeys(own))
    if isinstance(value, str):
        return (value,)
    if isinstance(value, float):
        return (f"{value:.12g}",)
    return (canonical_json(value).decode(),)


def _order(text: str) -> tuple[bool, float, str]:
    """Numbers by their size, texts after them."""
    number = as_number(text)
    if number is None:
        return True, 0.0, text
    return False, number, text


def _one_value(found: Slicing, bins: str | None) -> str:
    """That there is nothing to hold a slice against."""
    if bins is None:
        return (
            f"{found.name} is {found.values[0]} on all {len(found.of)} prompts that "
            "were scored: there is one slice"
        )
    return (
        f"--bins {bins} makes one bin of {found.name}, {found.values[0]}, as equal "
        "values stay together; name edges, such as --bins 5,8"
    )


def as_number(value: Any) -> float | None:
    """A number, also one that is written as a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if math.isfinite(number):
        return number
    return None


def as_numbers(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """A column of numbers, NaN where there is none; None where a value is no number, or
    none is there."""
    found = np.full(len(values), math.nan)
    for place, value in enumerate(values):
        if value is None:
            continue
        number = as_number(value)
        if number is None:
            return None
        found[place] = number
    if np.isnan(found).all():
        return None
    return found


def _binned(
    name: str, prompts: Ids, numbers: NDArray[np.float64], bins: str
) -> Slicing:
    has_number = ~np.isnan(numbers)
    found = cut(numbers[has_number], bins)
    of: list[tuple[int, ...]] = [()] * len(prompts)
    places = np.flatnonzero(has_number).tolist()
    for place, code in zip(places, found.codes.tolist(), strict=True):
        of[place] = (code,)
    names = []
    for low, high in zip(found.lows, found.highs, strict=True):
        names.append(f"{low:g}" if low == high else f"{low:g} .. {high:g}")
    return Slicing(name, tuple(names), tuple(of), prompts)


def cut(numbers: NDArray[np.float64], bins: str) -> Bins:
    """Numbers in bins (MisuseError: neither ``q:N`` nor edges)."""
    kind, colon, count = bins.partition(":")
    try:
        if colon:
            if kind != "q":
                raise ValueError
            return quantile_bins(numbers, int(count))
        edges = [float(edge) for edge in bins.split(",")]
    except ValueError:
        raise MisuseError(
            f"bins {bins!r}; expected q:4 (quarters of the prompts) or edges such as "
            "100,1000"
        ) from None
    return edge_bins(numbers, edges)


def _crossed(first: Slicing, second: Slicing) -> Slicing:
    """The cells of two slicings that have a prompt."""
    pairs = []
    for own, other in zip(first.of, second.of, strict=True):
        pairs.append(list(product(own, other)))
    cells = sorted(set(chain.from_iterable(pairs)))
    numbered = {cell: number for number, cell in enumerate(cells)}
    values = tuple(f"{first.values[a]}{TIMES}{second.values[b]}" for a, b in cells)
    of = tuple(tuple(numbered[cell] for cell in own) for own in pairs)
    return Slicing(f"{first.name}{TIMES}{second.name}", values, of, first.prompts)
