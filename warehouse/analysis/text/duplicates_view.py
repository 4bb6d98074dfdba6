"""Pairs of prompts above a similarity: rows, the sentences and the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.results import Result, Row
from warehouse.analysis.text.similar_view import heading_of
from warehouse.questions.text_models import PROMPT
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import counted, excerpt, number

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
        """How many prompts ask the same, whether models score them alike, and the most
        similar pairs.

        Args:
            verbose: where the pairs are, and how alike each model scores them.
        """
        if not verbose:
            brief: list[Part] = [*_found(self)]
            if self.rows:
                brief += ["", *_pairs(self.rows, self.part)]
            return View(tuple(brief), tuple(_notes(self)))
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


def _found(result: Duplicates) -> list[str]:
    """How many prompts are near-duplicates, where their answers differ, and whether
    models score them alike."""
    compared = counted(result.n_compared, "prompt")
    of = ""
    if result.part != PROMPT:
        of = f" by {result.part}"
    if not result.n_pairs:
        return [f"No two of {compared} are {result.threshold:g} or more alike{of}."]
    spare = result.n_prompts - result.n_groups
    said = [
        f"{result.n_prompts} of {compared} are near-duplicates ({result.threshold:g} or "
        f"more alike{of}), in {counted(result.n_pairs, 'pair')}; without repeats "
        f"{counted(result.n_compared - spare, 'prompt')} would be left."
    ]
    differing = sum(row.same_target is False for row in result.rows)
    if differing:
        have = "have"
        if differing == 1:
            have = "has"
        said.append(
            f"{counted(differing, 'pair')} {have} different targets: where the questions "
            "are the same, one is wrong."
        )
    return [*said, *_scored_alike(result)]


def _scored_alike(result: Duplicates) -> list[str]:
    """Whether the pairs are scored alike more often than chance has it."""
    if not result.models:
        return []
    n = len(result.models)
    alike = sum(row.alike for row in result.models) / n
    by_chance = sum(row.by_chance for row in result.models) / n
    return [
        f"{counted(n, 'model')} {_score(n)} the two of a pair alike in {100 * alike:.0f} "
        f"% of cases, prompts at random in {100 * by_chance:.0f} %."
    ]


def _score(n: int) -> str:
    if n == 1:
        return "scores"
    return "score"


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
