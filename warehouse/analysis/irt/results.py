"""Answers of the item response models: frozen, named fields, made of what JSON can
hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Row, StoredResult
from warehouse.tables.view import Part, Table
from warehouse.tables.words import excerpt, number

#: Characters of a prompt's id and a benchmark's name in a table of 80 columns, and of
#: names of models.
_ID, _BENCHMARK, _MODELS = 16, 14, 40


@dataclass(frozen=True)
class BlockRow(Row):
    """Models that answered largely the same prompts."""

    block: int  #: its number, from 1.
    n_models: int  #: its models.
    n_items: int  #: prompts that one of them answered.
    #: of these the prompts that a model of another block answered too; None for one
    #: block.
    n_links: int | None
    prior_mean: float  #: mean ability of the block, in the frame of the fit.
    models: tuple[str, ...]  #: names of the first few.


@dataclass(frozen=True)
class IrtResult(StoredResult):
    """The model behind an answer, as all answers tell it.

    Attributes:
        rows: the answer.
    """

    benchmarks: tuple[str, ...]  #: names.
    model: str  #: ``1pl`` or ``2pl``.
    model_reason: str  #: why this one.
    n_models: int  #: models in it.
    n_items: int  #: prompts in it; one that several harnesses ask counts for each.
    n_cells: int  #: answered pairs of model and prompt.
    #: clusters of prompts that errors allow for; None: prompts are independent given
    #: ability.
    n_testlets: int | None
    input_fingerprint: str  #: sha256 of models, prompts and answers.
    computed_at: str  #: when, ISO 8601 in UTC.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        share = self.n_cells / (self.n_models * self.n_items)
        missing = ""
        if share != 1:
            missing = f", {100 * (1 - share):.3g} % of the cells missing"
        more = ""
        if len(self.benchmarks) > 4:
            more = ", ..."
        listed = ", ".join(self.benchmarks[:4]) + more
        return (
            f"{self.model.upper()} of {self.n_models} models x {self.n_items} prompts "
            f"of {listed}{missing}"
        )


def blocks_part(blocks: Sequence[BlockRow]) -> list[Part]:
    """The blocks of models and what links them, with an empty line; nothing where there
    is one."""
    if len(blocks) < 2:
        return []
    cells = [
        {
            "block": row.block,
            "models": row.n_models,
            "prompts": row.n_items,
            "links": row.n_links,
            "mean": number(row.prior_mean, 2),
            "such as": excerpt(", ".join(row.models), _MODELS),
        }
        for row in blocks
    ]
    head = (
        "Blocks of models that answered different prompts, and the prompts that link "
        "each to the others:"
    )
    return [head, Table.of(cells), ""]


def prompt_cells(
    prompt: str, key: str, benchmark: str, *, several: bool
) -> dict[str, Any]:
    """Cells that name a prompt, with its benchmark where there are several."""
    cells = {"prompt": prompt, "id": excerpt(key, _ID)}
    if several:
        cells["benchmark"] = excerpt(benchmark, _BENCHMARK)
    return cells
