"""The view of what was embedded: rows, the table, and what it says of texts that were
cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Result, Row
from warehouse.questions.text_models import PROMPT
from warehouse.tables.view import Table, View


@dataclass(frozen=True)
class EmbedRow(Row):
    """One embedder on a part of the prompts of one benchmark."""

    embedder: str  #: its name.
    revision: str  #: its revision; empty where unknown.
    dimension: int  #: length of a vector.
    benchmark: str  #: name of the benchmark.
    n_prompts: int  #: prompts of the benchmark.
    #: prompts without a text of this part, which cannot be embedded.
    n_without_text: int
    n_unchanged: int  #: prompts that had the vector of their text already.
    n_new: int  #: prompts that got one.
    n_truncated: int  #: of the texts that were embedded now, those of which the model read only the beginning.
    #: of them those for which the model gave no direction (zeros); not stored.
    n_without_vector: int
    #: words that all prompts begin or end with, which were taken off.
    n_template_words: int = 0
    part: str = PROMPT  #: ``prompt``, ``target``, ``choices`` or ``metadata.FIELD``.


@dataclass(frozen=True)
class Embedding(Result):
    """Embedded texts, one row per embedder and benchmark."""

    rows: tuple[EmbedRow, ...]

    @property
    def one_line(self) -> str:
        new = sum(row.n_new for row in self.rows)
        unchanged = sum(row.n_unchanged for row in self.rows)
        parts = list(dict.fromkeys(row.part for row in self.rows))
        of = ""
        if parts != [PROMPT]:
            of = f" ({', '.join(parts)})"
        return f"{new} prompts embedded, {unchanged} unchanged{of}"

    def view(self, *, verbose: bool = False) -> View:
        """How many prompts were embedded, by benchmark.

        Args:
            verbose: by which version of the model, into how many numbers.
        """
        several = any(row.part != PROMPT for row in self.rows)
        table = Table.of(
            [_cells(row, several) for row in self.rows],
            hide_empty=("revision", "part"),
            counts=("truncated", "without text", "without vector", "template words"),
            minor=("numbers", "revision", "embedder"),
        )
        notes = tuple(_notes(self.rows))
        if verbose:
            return View((table, "", self.one_line), notes)
        hidden = ["revision", "numbers", "template words", "unchanged"]
        embedders = list(dict.fromkeys(row.embedder for row in self.rows))
        by = ""
        if len(embedders) == 1:
            hidden.append("embedder")
            by = f" by {embedders[0]}"
        return View((f"{self.one_line}{by}.", "", table.without(hidden)), notes)


def _cells(row: EmbedRow, several: bool) -> dict[str, Any]:
    part = None
    if several:
        part = row.part
    return {
        "embedder": row.embedder,
        "revision": row.revision,
        "numbers": row.dimension,
        "benchmark": row.benchmark,
        "part": part,
        "prompts": row.n_prompts,
        "new": row.n_new,
        "unchanged": row.n_unchanged,
        "truncated": row.n_truncated,
        "without text": row.n_without_text,
        "without vector": row.n_without_vector,
        "template words": row.n_template_words,
    }


def _notes(rows: tuple[EmbedRow, ...]) -> list[str]:
    """Notes on what the model did not read of the texts."""
    notes = []
    if any(row.n_template_words for row in rows):
        notes.append(
            "words that all prompts of a benchmark share at an end are taken off "
            "first; --whole keeps them"
        )
    if any(row.n_truncated for row in rows):
        notes.append("of truncated texts the model read the beginning only")
    if any(row.n_without_vector for row in rows):
        notes.append(
            "texts without vector hold no word that the model knows; not stored"
        )
    return notes
