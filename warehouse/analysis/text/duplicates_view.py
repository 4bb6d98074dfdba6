"""Pairs of prompts above a similarity: rows, the sentences and the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.results import Result, Row
from warehouse.analysis.text.similar_view import heading_of
from warehouse.questions.text_models import PROMPT
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import excerpt, number

#: Pairs that people are shown; programs get all that were kept.
_SHOWN = 20
#: Characters of a question in a table.
_TEXT = 60


@dataclass(frozen=True)
class DuplicateRow(Row):
    """Two prompts that ask nearly the same."""

    similarity: float  #: cosine similarity of the vectors, in [-1, 1].
    same_text: bool  #: the normalised texts are equal.
    #: the expected answers are equal, the letter of an option taken for the option;
    #: None where one is unknown.
    same_target: bool | None
    n_models: int  #: models that have a score of both on the headline metric.
    #: how alike these models score the two, 1 − |difference| of scores scaled to 0–1,
    #: averaged: for 0/1 scores the share of models that score them alike. None without.
    alike: float | None
    benchmark_a: str  #: name of the benchmark of the first.
    prompt_a: int  #: id of the first in the store.
    tool_id_a: str | None  #: the tool's own id of it.
    text_a: str | None  #: what was compared: its question, or the text of the part.
    target_a: str | None  #: its expected answer.
    benchmark_b: str  #: the same of the second.
    prompt_b: int  #: its id.
    tool_id_b: str | None  #: the tool's own id of it.
    text_b: str | None  #: its text.
    target_b: str | None  #: its expected answer.


@dataclass(frozen=True)
class DuplicatePlace(Row):
    """How many near-duplicates two benchmarks have in common, or one within itself."""

    benchmark_a: str
    benchmark_b: str
    n_pairs: int


@dataclass(frozen=True)
class DuplicateModel(Row):
    """How alike one model scores the near-duplicates that were kept."""

    model: str
    n_pairs: int  #: pairs of which it has both scores.
    alike: float  #: mean agreement of these pairs, see `DuplicateRow`.
    by_chance: float  #: mean agreement of the same prompts paired at random.


@dataclass(frozen=True)
class Duplicates(Result):
    """Pairs of prompts above a similarity."""

    threshold: float  #: smallest cosine similarity.
    embedder: str  #: whose vectors.
    n_compared: int  #: prompts with a vector.
    n_without_vector: int  #: prompts with text that have none (yet).
    n_pairs: int  #: pairs found, also those beyond ``rows``.
    n_prompts: int  #: prompts that are in a pair.
    n_groups: int  #: groups of prompts that pairs connect.
    largest_group: int  #: prompts in the largest of them.
    rows: tuple[DuplicateRow, ...]  #: the most similar pairs.
    places: tuple[DuplicatePlace, ...]  #: pairs by benchmarks, most first.
    models: tuple[DuplicateModel, ...]  #: agreement of each model over ``rows``.
    #: whether the pairs were read back, or could not be stored.
    notes: tuple[str, ...] = ()
    part: str = PROMPT  #: what of the prompts was compared.

    @property
    def one_line(self) -> str:
        of = ""
        if self.part != PROMPT:
            of = f" by {self.part}"
        return (
            f"{self.n_pairs} pairs of {self.n_compared} prompts are at least "
            f"{self.threshold:g} alike{of}: {self.n_prompts} prompts in "
            f"{self.n_groups} groups ({self.embedder})"
        )

    def view(self, *, verbose: bool = False) -> View:
        """Where the pairs are, how far models score them alike, and the most similar
        ones."""
        parts: list[Part] = [self.one_line]
        if self.rows:
            parts += [
                f"largest group: {self.largest_group} prompts",
                "",
                _places(self.places),
            ]
            if self.models:
                parts += ["", _models(self.models)]
            parts += ["", *_pairs(self.rows, self.part)]
        return View(tuple(parts), tuple(_notes(self)))


def _places(places: tuple[DuplicatePlace, ...]) -> Table:
    cells = [
        (
            row.n_pairs,
            row.benchmark_a,
            "itself" if row.benchmark_a == row.benchmark_b else row.benchmark_b,
        )
        for row in places
    ]
    return Table(("pairs", "benchmark", "and"), tuple(cells))


def _models(models: tuple[DuplicateModel, ...]) -> Table:
    cells = [
        (row.model, row.n_pairs, number(row.alike, 3), number(row.by_chance, 3))
        for row in models
    ]
    return Table(("model", "pairs", "scored alike", "by chance"), tuple(cells))


def _pairs(rows: tuple[DuplicateRow, ...], part: str) -> list[Part]:
    """The most similar pairs, and how many more there are."""
    shown = rows[:_SHOWN]
    texts = distinctive([row.text_a for row in shown], [row.text_b for row in shown])
    cells = [_cells(row, text, part) for row, text in zip(shown, texts, strict=True)]
    table = Table.of(cells, hide_empty=("alike",), counts=("models",))
    if len(rows) > _SHOWN:
        return [
            table,
            f"... and {len(rows) - _SHOWN} more pairs: --json or --csv has them",
        ]
    return [table]


def _cells(row: DuplicateRow, text: str, part: str) -> dict[str, Any]:
    is_one = row.benchmark_a == row.benchmark_b
    target = {True: "same", False: "differs", None: ""}[row.same_target]
    if is_one:
        benchmark = row.benchmark_a
    else:
        benchmark = f"{row.benchmark_a}, {row.benchmark_b}"
    return {
        "similarity": number(row.similarity, 3),
        "prompts": f"prompt:{row.prompt_a}, prompt:{row.prompt_b}",
        "benchmark": benchmark,
        "models": row.n_models,
        "alike": number(row.alike, 2),
        "target": target,
        heading_of(part): excerpt(text, _TEXT),
    }


def _notes(result: Duplicates) -> list[str]:
    """Notes on what was not compared, or not scored."""
    notes = [*result.notes]
    if result.n_without_vector:
        notes.insert(
            0,
            f"{result.n_without_vector} prompts have no vector; see: warehouse text embed",
        )
    if result.n_pairs > len(result.rows):
        notes.append(
            f"the {len(result.rows)} most similar pairs were scored; --keep N for more"
        )
    return notes
