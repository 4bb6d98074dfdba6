"""Models on one scale: rows, the sentences and the tables."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.irt.results import BlockRow, IrtResult, blocks_part
from warehouse.analysis.results import Row
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import (
    excerpt,
    interval,
    level_column,
    number,
    p_value,
    some_of,
    visible,
)

#: Characters of what is left out.
_LEFT_OUT = 16


@dataclass(frozen=True)
class AbilityRow(Row):
    """One model on the common scale."""

    rank: int  #: place by ability.
    #: rank_low, rank_high: set of ranks that the data leave it.
    rank_low: int | None
    rank_high: int | None
    model: str  #: its name, with what tells its conditions apart.
    ability: float  #: in standard deviations of the models' abilities, mean 0.
    standard_error: float | None  #: of it in this pool.
    #: ci_low, ci_high: its interval.
    ci_low: float | None
    ci_high: float | None
    behind_leader: float | None  #: ability of the first model less its own.
    #: behind_low, behind_high: interval of that difference.
    behind_low: float | None
    behind_high: float | None
    p_leader: float | None  #: chance of such a difference if there were none.
    n_items: int  #: prompts that it answered.
    block: int  #: number of its block, from 1.
    bridge: bool  #: without it others fall apart.


@dataclass(frozen=True)
class SensitivityRow(Row):
    """The scale without one benchmark or family of models."""

    kind: str  #: ``benchmark`` or ``family``.
    left_out: str  #: its name.
    #: n_models, n_items: that are left.
    n_models: int
    n_items: int
    #: Kendall's τ-b of the abilities with those of the full scale, over the models
    #: left.
    tau: float | None
    leader: str | None  #: first model of what is left.
    #: model whose ability moves the most, both scales standardised over the models
    #: left.
    most_moved: str | None
    shift: float | None  #: by how much, in standard deviations of abilities.
    most_places: int | None  #: largest change of a place among the models left.
    reason: str  #: why nothing can be said; empty otherwise.


@dataclass(frozen=True)
class AbilityReport(IrtResult):
    """All models on one scale, the most able first."""

    rows: tuple[AbilityRow, ...]  #: one for each model.
    level: float  #: of the intervals and rank sets.
    blocks: tuple[BlockRow, ...]  #: models by the prompts that they answered.
    bridge_items: tuple[str, ...]  #: prompts without which models fall apart.
    #: the scale without single benchmarks and families; empty unless asked for.
    sensitivity: tuple[SensitivityRow, ...]

    def view(self, *, verbose: bool = False, sensitivity: bool = False) -> View:
        """Who is the most able, and who may be; the scale.

        Args:
            verbose: with errors, tests and what the columns mean.
            sensitivity: the order without single benchmarks and families instead.
        """
        if sensitivity:
            parts = _sensitivity(self, verbose=verbose)
        elif verbose:
            parts = _abilities(self)
        else:
            parts = _brief(self)
        return View(tuple(parts), self.notes)


def _brief(report: AbilityReport) -> list[Part]:
    """Who is the most able, and the places of all."""
    level = level_column(report.level)
    cells = []
    for row in report.rows:
        place = None
        if row.rank_low is not None:
            place = f"{row.rank_low}-{row.rank_high}"
        cells.append(
            {
                "place": place or row.rank,
                "model": visible(row.model),
                "ability": number(row.ability, 2),
                f"its {level}": interval(row.ci_low, row.ci_high, 2),
                "behind": number(row.behind_leader, 2),
                "prompts": row.n_items,
                "block": row.block,
            }
        )
    table = Table.of(cells, hide_empty=("block",), minor=("block", "prompts"))
    if len({row.block for row in report.rows}) == 1:
        table = table.without(("block",))
    return [
        visible(_most_able(report)),
        f"{report.one_line}; abilities in standard deviations of these models.",
        "",
        *blocks_part(report.blocks),
        table,
    ]


def _most_able(report: AbilityReport) -> str:
    """Who has the highest ability, and whom no test tells from the first."""
    first, *others = report.rows
    alike = [row.model for row in others if row.rank_low == 1]
    said = f"{first.model} has the highest ability"
    if alike:
        return f"{said}; {some_of(alike, 3)} may be the first as well."
    if first.rank_low is None:
        return f"{said}; no test of places."
    return f"{said}, above all others."


def _abilities(report: AbilityReport) -> list[Part]:
    level = level_column(report.level)
    cells = [
        {
            "rank": row.rank,
            "ranks": None
            if row.rank_low is None
            else f"{row.rank_low}-{row.rank_high}",
            "model": visible(row.model),
            "ability": number(row.ability, 2),
            "se": number(row.standard_error, 2),
            f"its {level}": interval(row.ci_low, row.ci_high, 2),
            "behind": number(row.behind_leader, 2),
            level: interval(row.behind_low, row.behind_high, 2),
            "p": p_value(row.p_leader),
            "prompts": row.n_items,
            "block": row.block,
        }
        for row in report.rows
    ]
    return [
        f"{report.one_line}; abilities in standard deviations of these models.",
        "",
        *blocks_part(report.blocks),
        Table.of(
            cells,
            hide_empty=("block",),
            minor=("block", f"its {level}", "p", "prompts", "se"),
        ),
        "",
        "ranks: those that the data leave a model; behind: the first model's ability "
        "less its own.",
    ]


def _sensitivity(report: AbilityReport, *, verbose: bool) -> list[Part]:
    cells = [
        {
            "without": f"{row.kind} {excerpt(row.left_out, _LEFT_OUT)}",
            "models": row.n_models,
            "prompts": row.n_items,
            "tau": number(row.tau, 3),
            "places": row.most_places,
            "first": visible(row.leader or ""),
            "moves most": visible(row.most_moved or ""),
            "by (sd)": number(row.shift, 2, sign=True),
        }
        for row in report.sensitivity
    ]
    table = Table.of(
        cells,
        empty="nothing to leave out",
        hide_empty=("tau", "places", "first", "moves most", "by (sd)"),
        minor=("prompts", "models"),
    )
    if not verbose:
        table = table.without(("models",))
    parts: list[Part] = [
        f"{report.one_line}; what its order of models is without one benchmark or "
        "family.",
        "",
        table,
        *(
            f"without {row.kind} {row.left_out}: {row.reason}"
            for row in report.sensitivity
            if row.reason
        ),
    ]
    if report.sensitivity:
        parts += [
            "",
            "tau: agreement with the order of all; places: largest change of a rank "
            "among the models left; by: change of ability, both scales standardised "
            "over the models left.",
        ]
    return parts
