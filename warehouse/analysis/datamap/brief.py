"""A data map as people read it first: how often models are right, on which prompts
always or never, and whose targets may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from warehouse.analysis.datamap.row import DataMapRow, DistributionRow
from warehouse.tables.view import Part, Table
from warehouse.tables.words import counted, excerpt, percentage

#: Characters of an answer that a sentence quotes.
_QUOTED = 30
#: Conditions whose map is drawn.
_DRAWN = 4
#: Share from which on nearly all answers of a prompt are right, and to which few are.
_HIGH, _LOW = 0.75, 0.25
#: Titles of the columns of the drawn map.
_TITLES = ("never right", "up to 1/4", "1/4 to 3/4", "above 3/4", "always right")
#: Titles of its rows.
_ALIKE, _MOSTLY, _MANY = "all answers alike", "most alike", "many answers"


class MappedPrompts(Protocol):
    """What is told of a data map."""

    @property
    def rows(self) -> tuple[DataMapRow, ...]:
        """One for each condition and prompt."""

    @property
    def distribution(self) -> tuple[DistributionRow, ...]:
        """One for each condition."""

    @property
    def suspects(self) -> tuple[DataMapRow, ...]:
        """Prompts whose target may be wrong."""

    @property
    def max_p(self) -> float:
        """Suspected are prompts with at most this P(correct)"""

    @property
    def min_s(self) -> float:
        """and at least this S(consistency)."""


def rightness(mapped: MappedPrompts) -> list[str]:
    """How often models are right, on average over prompts; nothing without a row."""
    rows = mapped.distribution
    if not rows:
        return []
    if len(rows) == 1:
        (row,) = rows
        return [
            f"{_named(row)} is right in {_percent(row.mean)} of its answers to a prompt "
            f"of {row.benchmark}: always on {_percent(row.share_always)} of "
            f"{counted(row.n_prompts, 'prompt')}, never on {_percent(row.share_never)}."
        ]
    least = min(rows, key=lambda row: row.mean)
    most = max(rows, key=lambda row: row.mean)
    where = ""
    if len({row.benchmark for row in rows}) == 1:
        where = f" on {rows[0].benchmark}"
    if least.mean == most.mean:
        return [
            f"Each of {len(rows)} rows is right{where} in {_percent(most.mean)} of its "
            "answers to a prompt."
        ]
    return [
        f"{_named(most)} is right most often{where}, in {_percent(most.mean)} of its "
        f"answers to a prompt; {_named(least)} least often, in {_percent(least.mean)}."
    ]


def suspicion(mapped: MappedPrompts) -> str:
    """Which targets may be wrong."""
    found = mapped.suspects
    if all(row.consistency is None for row in mapped.rows):
        return "Which targets may be wrong is not known: no answers are compared."
    if not found:
        return _none_suspect(mapped)
    first = found[0]
    said = f"prompt:{first.prompt_id}"
    if first.majority_answer:
        said += f" ({first.model} says '{excerpt(first.majority_answer, _QUOTED)}'"
        if first.target:
            said += f", the target is '{excerpt(first.target, _QUOTED)}'"
        said += ")"
    n = len({row.prompt_id for row in found})
    if n == 1:
        return f"The target of 1 prompt may be wrong, {said}: look at it."
    return f"Targets of {n} prompts may be wrong, first of all {said}: look at them."


def _none_suspect(mapped: MappedPrompts) -> str:
    """Why no target is suspect, though answers may be alike and wrong."""
    alike = {
        row.prompt_id
        for row in mapped.rows
        if row.p_correct is not None
        and row.consistency is not None
        and row.p_correct <= mapped.max_p
        and row.consistency >= mapped.min_s
    }
    if not alike:
        return "No target is suspect: no prompt is answered alike and wrongly."
    are = "are"
    if len(alike) == 1:
        are = "is"
    return (
        f"No target is suspect: {counted(len(alike), 'prompt')} {are} answered alike and "
        "wrongly, but by too few answers, or by such as say nothing."
    )


def _named(row: DistributionRow) -> str:
    if row.condition:
        return f"{row.model} ({row.condition})"
    return row.model


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def brief_distribution(rows: Sequence[DistributionRow]) -> Table:
    """How often each condition is right, in a few columns."""
    cells = [
        {
            "benchmark": row.benchmark,
            "split": row.split,
            "model": row.model,
            "settings": row.condition,
            "prompts": row.n_prompts,
            "right": percentage(row.mean),
            "never right": percentage(row.share_never),
            "always right": percentage(row.share_always),
            "suspects": row.n_suspected,
        }
        for row in rows
    ]
    for name in ("benchmark", "split"):
        if len({getattr(row, name) for row in rows}) == 1:
            for own in cells:
                del own[name]
    return Table.of(cells, hide_empty=("settings",), minor=("prompts", "settings"))


def brief_maps(mapped: MappedPrompts) -> list[Part]:
    """How many prompts are right how often, by how alike their answers are."""
    parts: list[Part] = []
    if len(mapped.distribution) > _DRAWN:
        return parts
    for shown in mapped.distribution:
        condition = (shown.model, shown.condition, shown.benchmark, shown.split)
        own = [
            row
            for row in mapped.rows
            if (row.model, row.condition, row.benchmark, row.split) == condition
        ]
        if any(row.consistency is not None for row in own):
            title = "Prompts by how often they are right"
            if len(mapped.distribution) > 1:
                title += f": {shown.benchmark}, {_named(shown)}"
            parts += ["", title, _map(own, mapped.min_s)]
    return parts


def _map(rows: Sequence[DataMapRow], min_s: float) -> Table:
    counts = {name: [0] * len(_TITLES) for name in (_ALIKE, _MOSTLY, _MANY)}
    for row in rows:
        if row.p_correct is not None and row.consistency is not None:
            counts[_line(row.consistency, min_s)][_column(row.p_correct)] += 1
    cells = [(name, *line) for name, line in counts.items() if any(line)]
    return Table(("", *_TITLES), tuple(cells))


def _line(consistency: float, min_s: float) -> str:
    if consistency >= 0:
        return _ALIKE
    if consistency >= min_s:
        return _MOSTLY
    return _MANY


def _column(share: float) -> int:
    """The column of a share of right answers."""
    if share <= 0:
        return 0
    if share >= 1:
        return len(_TITLES) - 1
    if share <= _LOW:
        return 1
    if share <= _HIGH:
        return 2
    return 3
