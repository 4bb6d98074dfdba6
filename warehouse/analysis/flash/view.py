"""Ranks from few prompts as people are shown them: steps, the prompts that come next,
and the check."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.reliability.results import (
    FlashModelRow,
    FlashStepRow,
    NextPromptRow,
)
from warehouse.tables.view import Table
from warehouse.tables.words import excerpt, number, percentage

#: Characters of a name and of a prompt's text.
_NAME, _TEXT = 30, 40
#: Prompts that people see.
_SHOWN = 10


def steps_table(steps: Sequence[FlashStepRow]) -> Table:
    """The rank after each step that the answers allow."""
    cells = [
        {
            "prompts": row.n_prompts,
            "a scenario": _size(row.size),
            "rank": row.rank,
            "±": row.resolution,
            "ranks": f"{row.best_rank}-{row.worst_rank}",
            "enough for ranks from": row.tier,
            "enough": row.is_enough,
        }
        for row in steps
    ]
    return Table.of(cells, empty="no step is answered yet")


def brief_steps(steps: Sequence[FlashStepRow]) -> Table:
    """The place after each step that the answers allow, and those that it may be."""
    cells = []
    for row in steps:
        place = f"{row.rank}"
        if row.best_rank != row.worst_rank:
            place += f" ({row.best_rank}-{row.worst_rank})"
        cells.append(
            {"prompts": row.n_prompts, "place": place, "enough": row.is_enough}
        )
    return Table.of(cells, empty="no step is answered yet")


def next_table(prompts: Sequence[NextPromptRow]) -> Table:
    """The first of the prompts to ask next."""
    cells = [
        {
            "scenario": excerpt(row.scenario, _NAME),
            "prompt": row.prompt,
            "id": excerpt(row.key, _NAME),
            "text": excerpt(row.text, _TEXT),
        }
        for row in prompts[:_SHOWN]
    ]
    return Table.of(cells, hide_empty=("text",), minor=("text",))


def stops_table(
    sizes: Sequence[int | None],
    resolutions: Sequence[int],
    tiers: Sequence[int],
    stopped: Sequence[float],
) -> Table:
    """Where the stored models stop, by prompts of a scenario."""
    cells = [
        {
            "a scenario": _size(size),
            "±": within,
            "enough for ranks from": tier,
            "stops here": percentage(share),
        }
        for size, within, tier, share in zip(
            sizes, resolutions, tiers, stopped, strict=True
        )
    ]
    return Table.of(cells)


def check_table(check: Sequence[FlashModelRow]) -> Table:
    """Each stored model ranked as if it were new."""
    cells = [
        {
            "rank": row.rank,
            "model": excerpt(row.model, _NAME),
            "mean error": number(row.mean_error, 2),
            "largest": round(row.largest_error),
            "within ± early": percentage(row.within_early),
            "prompts": round(row.n_prompts),
            "saving": number(row.saving, 1),
        }
        for row in check
    ]
    return Table.of(cells)


def _size(size: int | None) -> int | str:
    if size is None:
        return "all"
    return size
