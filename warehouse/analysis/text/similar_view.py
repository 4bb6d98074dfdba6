"""The nearest prompts: rows, the sentences and the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.results import Result, Row
from warehouse.questions.text_models import PROMPT
from warehouse.tables.view import Table, View
from warehouse.tables.words import counted, excerpt, number

#: Characters of a text, and of an answer beside it.
_TEXT, _ANSWER = 60, 30


def heading_of(part: str) -> str:
    """The heading of a column of the texts that were compared."""
    return {PROMPT: "question", "target": "answer"}.get(part, part)


@dataclass(frozen=True)
class SimilarRow(Row):
    """A prompt near to what was asked for."""

    rank: int  #: 1 is the nearest.
    similarity: float  #: cosine similarity of the vectors, in [-1, 1].
    benchmark: str  #: name of its benchmark.
    split: str  #: part of the benchmark.
    prompt_id: int  #: id in the store.
    key: str  #: natural key.
    tool_id: str | None  #: the tool's own id.
    text: str | None  #: what was compared: the question, or the text of the part.
    target: str | None  #: the expected answer.


@dataclass(frozen=True)
class Similar(Result):
    """The nearest prompts."""

    wanted: str  #: the text that they are near to.
    #: of the prompt that was named; None for a text of the user's own.
    prompt_id: int | None
    embedder: str  #: whose vectors.
    n_compared: int  #: prompts that were looked at.
    rows: tuple[SimilarRow, ...]
    part: str = PROMPT  #: what of the prompts was compared.

    @property
    def one_line(self) -> str:
        best = ""
        if self.rows:
            best = f", the nearest at {self.rows[0].similarity:.3f}"
        of = ""
        if self.part != PROMPT:
            of = f" by {self.part}"
        return (
            f"{len(self.rows)} of {self.n_compared} prompts{of}{best} ({self.embedder})"
        )

    def view(self, *, verbose: bool = False) -> View:
        """The nearest prompt, and those after it with their similarity.

        Args:
            verbose: by whose vectors.
        """
        what = "the text"
        if self.prompt_id is not None:
            what = f"prompt:{self.prompt_id}"
        compared = f"by {self.embedder}, of {self.n_compared} prompts"
        if self.part != PROMPT:
            compared += f", their {self.part}"
        texts = distinctive([row.text for row in self.rows], [self.wanted])
        cells = [
            _cells(row, text, self.part)
            for row, text in zip(self.rows, texts, strict=True)
        ]
        table = Table.of(cells, hide_empty=("split", "target"), empty="no other prompt")
        head = f"nearest to {what}: {excerpt(self.wanted, _TEXT)}"
        if verbose:
            return View((head, compared, "", table))
        return View((_nearest(self, what), head, "", table))


def _nearest(found: Similar, what: str) -> str:
    """Which prompt is the nearest, and how near it is."""
    if not found.rows:
        return f"No other prompt has a vector to hold against that of {what}."
    first = found.rows[0]
    return (
        f"Of {counted(found.n_compared, 'prompt')} prompt:{first.prompt_id} "
        f"({first.benchmark}) is the nearest to {what}: {first.similarity:.2f} alike (1: "
        "the same)."
    )


def _cells(row: SimilarRow, text: str, part: str) -> dict[str, Any]:
    target = None
    if part != "target":
        target = excerpt(row.target, _ANSWER)
    return {
        "similarity": number(row.similarity, 3),
        "benchmark": row.benchmark,
        "split": row.split,
        "prompt": f"prompt:{row.prompt_id}",
        heading_of(part): excerpt(text, _TEXT),
        "target": target,
    }
