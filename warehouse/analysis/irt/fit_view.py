"""A fitted item response model: rows, the sentences and the tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from warehouse.analysis.irt.results import (
    BlockRow,
    IrtResult,
    blocks_part,
    prompt_cells,
)
from warehouse.analysis.results import Row
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import counted, excerpt, number, p_value, some_of

#: Characters of a family's name.
_FAMILY = 26
#: Level at which a loss has to be smaller for its model to be called better.
_LEVEL = 0.95


@dataclass(frozen=True)
class FormRow(Row):
    """A benchmark as one harness asks it."""

    label: str  #: the benchmark, with what tells it from other forms.
    metric: str  #: name of the metric, with its filter.
    n_items: int  #: prompts in the model.
    n_models: int  #: models with an answer to one of them.


@dataclass(frozen=True)
class FittedItemRow(Row):
    """One prompt in a fitted item response model."""

    prompt: str  #: ``prompt:ID``, as `show` takes it.
    key: str  #: its id in the dump, else its key.
    #: its benchmark, with the harness where a prompt was asked by several.
    benchmark: str
    n_models: int  #: models that answered it.
    mean_score: float  #: share of right draws, mean over models.
    discrimination: float  #: a of P(right) = σ(aθ + d).
    se_discrimination: float | None  #: its standard error, the models a sample.
    difficulty: float  #: −d/a in standard deviations of the models' abilities.
    se_difficulty: float | None  #: its standard error.
    infit: float | None  #: ΣE²/ΣV, 1 where the model fits: a ranking, no test.
    outfit: float | None  #: mean E²/V, led by single surprises.
    z_infit: float | None  #: infit as a normal figure; above 0: noisier than the model.
    constant: bool  #: all answers are right, or all wrong.
    #: slope on the abilities that may be negative, as with a wrong key, where a may
    #: not; logits per standard deviation of the models; None where all answers are
    #: alike.
    free_discrimination: float | None
    reversed: bool  #: it is significantly below 0 (false discovery rate .05).
    bridge: bool  #: the scale hangs on this prompt alone.
    #: family of models for which it is most unlike its place; None where not tested.
    dif_family: str | None
    #: logits by which it is easier for that family than abilities tell.
    dif_effect: float | None
    #: chance of such an effect if there were none, after Benjamini and Hochberg.
    dif_q: float | None
    dif: bool  #: dif_q is at most the false discovery rate.
    text: str  #: beginning of the prompt.


@dataclass(frozen=True)
class FamilyRow(Row):
    """A family of models held against the others."""

    family: str  #: its name.
    n_models: int  #: its models.
    n_others: int  #: models that it is compared with.
    n_flagged: int  #: prompts that are easier or harder for it than abilities tell.


@dataclass(frozen=True)
class IrtReport(IrtResult):
    """A fitted item response model; prompts that fit worst first."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "prompt",
            "benchmark",
            "mean_score",
            "discrimination",
            "difficulty",
            "infit",
            "outfit",
            "text",
        ),
    )
    rows: tuple[FittedItemRow, ...]  #: one for each prompt.
    forms: tuple[FormRow, ...]  #: benchmarks by harness.
    blocks: tuple[BlockRow, ...]  #: models by the prompts that they answered.
    families: tuple[FamilyRow, ...]  #: of the test for differential item functioning.
    dif_reason: str  #: why there is none; empty if there is.
    #: mean −ln chance of held-out draws, nats per draw; None with a note.
    loss_1pl: float | None
    loss_2pl: float | None  #: of the 2PL.
    loss_items: float | None  #: of the prompts' mean scores alone, every model alike.
    loss_difference: float | None  #: loss_2pl − loss_1pl; below 0: 2PL predicts better.
    loss_se: float | None  #: its standard error over models.
    n_held_out: int  #: draws held out.
    converged: bool  #: the fit reached its tolerance.
    bridge_models: tuple[str, ...]  #: models without which the others fall apart.

    def view(self, *, verbose: bool = False, top: int = 10) -> View:
        """The prompts that tell nothing, go against the others, or surprise most.

        Args:
            verbose: how the model was chosen, how well it predicts, and every column.
            top: prompts in each table; 0 for all.
        """
        if not verbose:
            return View(tuple(_brief(self, top)), self.notes)
        return View(
            (
                *_fit(self),
                "",
                *_forms(self.forms),
                *_items(self, top),
                *_families(self, top),
            ),
            self.notes,
        )


def _brief(report: IrtReport, top: int) -> list[Part]:
    """What is found of the prompts, in sentences, and those that stand out."""
    several = len(report.forms) > 1
    hidden = ["models", "se", "outfit"]
    if report.model == "1pl":
        hidden.append("a")
    if several:
        hidden.append("id")
    parts: list[Part] = [*_against_rest(report.rows), _level(report.rows)]
    parts += [f"{report.one_line}.", "", *blocks_part(report.blocks)]
    for part in _prompts(report, top, brief=True):
        if isinstance(part, Table):
            part = part.without(hidden)
        parts.append(part)
    if report.families:
        parts += _families(report, top)
    return parts


def _against_rest(rows: Sequence[FittedItemRow]) -> list[str]:
    """Which prompts able models answer worse, and how many tell nothing."""
    against = sorted(
        (row for row in rows if row.reversed),
        key=lambda row: row.free_discrimination or 0.0,
    )
    n = counted(len(rows), "prompt")
    said = f"None of {n} is shown to go against what the others measure."
    if against:
        names = some_of([row.prompt for row in against])
        verb = "go"
        if len(against) == 1:
            verb = "goes"
        said = (
            f"{len(against)} of {n} {verb} against what the others measure, as with a "
            f"wrong key: {names}."
        )
    n_constant = sum(row.constant for row in rows)
    if not n_constant:
        return [said]
    tell = "tells"
    if n_constant > 1:
        tell = "tell"
    return [
        f"{said} {n_constant} {tell} no model from another: all answer alike.",
    ]


def _level(rows: Sequence[FittedItemRow]) -> str:
    """For which models the prompts are."""
    moving = [row.difficulty for row in rows if not row.constant]
    if not moving:
        return "No prompt tells models apart."
    low, high = np.quantile(moving, [0.05, 0.95])
    return (
        "The middle 90 % of prompts that tell models apart are solved half the time by "
        f"models from {_beside_average(low)} to {_beside_average(high)} the average one."
    )


def _beside_average(sds: float) -> str:
    """An ability beside that of the average model."""
    side = "above"
    if sds < 0:
        side = "below"
    return f"{abs(sds):.1f} sd {side}"


def _fit(report: IrtReport) -> list[Part]:
    parts: list[Part] = [
        f"{report.one_line}.",
        _spread(report.rows),
        f"{report.model.upper()}: {report.model_reason}. {_losses(report)}",
    ]
    if report.n_testlets is not None:
        parts.append(
            f"{report.n_testlets} clusters of prompts; errors of abilities allow for "
            "them."
        )
    return parts


def _forms(forms: Sequence[FormRow]) -> list[Part]:
    if len(forms) < 2:
        return []
    return [
        Table.of(
            {"benchmark": f.label, "prompts": f.n_items, "models": f.n_models}
            for f in forms
        ),
        "",
    ]


def _items(report: IrtReport, top: int) -> list[Part]:
    """Blocks, the prompts that fit worst, and those that go against the ability."""
    return [*blocks_part(report.blocks), *_prompts(report, top)]


#: What stands above the prompts of each kind, in full and in brief.
_SURPRISES = (
    "Prompts with the most surprises (infit and outfit are 1 where the model fits; a "
    "ranking, no test):"
)
_SURPRISES_BRIEF = (
    "Prompts whose answers surprise most (infit: 1 where they go by ability; no test):"
)
_AGAINST_BRIEF = "Prompts that go against the others (free a: the slope, below 0):"


def _prompts(report: IrtReport, top: int, *, brief: bool = False) -> list[Part]:
    """The prompts that fit worst, and those that go against the ability."""
    several = len(report.forms) > 1
    fitted = [_item(row, several) for row in _first(report.rows, top)]
    head = _SURPRISES
    if brief:
        head = _SURPRISES_BRIEF
    parts: list[Part] = [
        head,
        Table.of(fitted, hide_empty=("text",), minor=("text", "models")),
        "",
    ]
    against = sorted(
        (row for row in report.rows if row.reversed),
        key=lambda row: row.free_discrimination or 0.0,
    )
    if against:
        cells = [_against(row, several) for row in _first(against, top)]
        head = (
            f"{len(against)} prompts go against the ability that the others measure, "
            "which a, above 0 as it is, does not show (free a: the slope that may be "
            "negative). A wrong key?"
        )
        if brief:
            head = _AGAINST_BRIEF
        parts += [
            head,
            Table.of(cells, hide_empty=("text",), minor=("text",)),
            "",
        ]
    return parts


def _families(report: IrtReport, top: int) -> list[Part]:
    """Families of models, and the prompts that are easier or harder for one."""
    if report.dif_reason:
        return [f"Families are not compared: {report.dif_reason}."]
    cells = [
        {
            "family": f.family,
            "models": f.n_models,
            "others": f.n_others,
            "prompts": f.n_flagged,
        }
        for f in report.families
    ]
    parts: list[Part] = [
        "Families of models, and prompts that are easier or harder for one than "
        "abilities tell (DIF):",
        Table.of(cells),
    ]
    flagged = sorted(
        (row for row in report.rows if row.dif), key=lambda row: row.dif_q or 0.0
    )
    if flagged:
        several = len(report.forms) > 1
        found = [_dif(row, several) for row in _first(flagged, top)]
        parts += ["", Table.of(found, hide_empty=("text",), minor=("text",))]
    return parts


def _first(rows: Sequence[FittedItemRow], top: int) -> Sequence[FittedItemRow]:
    if top:
        return rows[:top]
    return rows


def _spread(rows: Sequence[FittedItemRow]) -> str:
    moving = [row for row in rows if not row.constant]
    constant = len(rows) - len(moving)
    same = ""
    if constant:
        same = f" {constant} prompts have one answer for all."
    if not moving:
        return f"No prompt tells models apart.{same}"
    d = np.quantile([row.difficulty for row in moving], [0.05, 0.95])
    a = np.quantile([row.discrimination for row in moving], [0.05, 0.95])
    return (
        f"Middle 90 % of prompts: difficulty {d[0]:.2f} to {d[1]:.2f} sd of abilities,"
        f" discrimination {a[0]:.2f} to {a[1]:.2f}.{same}"
    )


def _losses(report: IrtReport) -> str:
    from warehouse.stats.core.quantiles import t_quantile  # takes a while

    if report.loss_1pl is None or report.loss_difference is None:
        return ""
    # the error is over models
    models = min(report.n_held_out, max(form.n_models for form in report.forms))
    flat = models < 2 or all(row.constant for row in report.rows)
    if flat:
        needed = math.inf
    else:
        needed = t_quantile(_LEVEL, models - 1)
    clear = (
        report.loss_se is not None
        and abs(report.loss_difference) > needed * report.loss_se
    )
    better = "1PL"
    if report.loss_difference < 0:
        better = "2PL"
    error = ""
    if report.loss_se is not None:
        error = f" (se {report.loss_se:.4f})"
    return (
        f"Log loss of {report.n_held_out} held-out draws: 1PL {report.loss_1pl:.4f}, "
        f"2PL {report.loss_2pl:.4f}, mean scores of prompts alone "
        f"{report.loss_items:.4f}. 2PL less 1PL {report.loss_difference:+.4f}{error}: "
        f"{better + ' predicts better' if clear else 'no clear difference'}."
    )


def _item(row: FittedItemRow, several: bool) -> dict[str, Any]:
    return {
        **prompt_cells(row.prompt, row.key, row.benchmark, several=several),
        "models": row.n_models,
        "mean": number(row.mean_score, 2),
        "a": number(row.discrimination, 2),
        "difficulty": number(row.difficulty, 2),
        "se": number(row.se_difficulty, 2),
        "infit": number(row.infit, 2),
        "outfit": number(row.outfit, 2),
        "text": row.text,
    }


def _against(row: FittedItemRow, several: bool) -> dict[str, Any]:
    return {
        **prompt_cells(row.prompt, row.key, row.benchmark, several=several),
        "models": row.n_models,
        "mean": number(row.mean_score, 2),
        "a": number(row.discrimination, 2),
        "free a": number(row.free_discrimination, 2),
        "text": row.text,
    }


def _dif(row: FittedItemRow, several: bool) -> dict[str, Any]:
    return {
        **prompt_cells(row.prompt, row.key, row.benchmark, several=several),
        "family": excerpt(row.dif_family, _FAMILY),
        "easier by (logits)": number(row.dif_effect, 2, sign=True),
        "q": p_value(row.dif_q),
        "text": row.text,
    }
