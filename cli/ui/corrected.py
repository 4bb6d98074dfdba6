"""``--corrected`` of ``leaderboard``, ``compare`` and ``gate``: a judge, people's labels and both, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .options import option
from .table import count_range, decimals, interval, level_column, number, print_legend, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.judges.corrected import CorrectedRow
    from warehouse.analysis.judges.corrected_figures import CorrectedFigures

    from ..state import State
    from .output import Output

#: Reason for what is refused beside it.
UNUSED = "changes nothing of corrected figures: leave out it or --corrected"
#: Columns that a narrow terminal does without, the first of them first.
MINOR = ("split", "benchmark", "lambda", "rho", "flags", "judged")


def corrected_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--corrected``, with the names of judge and people."""
    for decorate in (
        option("--human NAME", "With --corrected: whose labels. [default: the only people]"),
        option("--judge NAME", "With --corrected: who judges. [default: the only model]"),
        option("--corrected", "A judge's figure, people's labels, and what both give together.", is_flag=True),
    ):
        function = decorate(function)
    return function


def give_corrected(
    state: State,
    output: Output,
    found: CorrectedFigures,
    more: Callable[[CorrectedRow], dict[str, Any]] = lambda _row: {},
) -> None:
    """The three figures of each row, and what they are; rows for programs.

    Args:
        more: further cells of a row.
    """
    output.give(found, lambda: print_corrected(found, more))
    state.notes(found.notes)


def print_corrected(found: CorrectedFigures, more: Callable[[CorrectedRow], dict[str, Any]] = lambda _row: {}) -> None:
    """The sentence and the table; ``more`` gives further cells of a row."""
    print_text(f"{found.one_line}.")
    rows, judge, human = found.rows, found.judge, found.human
    shown_level = level_column(rows[0].level)
    n_decimals = decimals(row.standard_error for row in rows)
    cells = [
        {
            "ranks": _ranks(row),
            "model": f"{row.model_a} - {row.model_b}" if row.model_b else row.model_a,
            "benchmark": row.benchmark,
            "split": row.split,
            "judge": number(row.judge_estimate, n_decimals),
            "labels": number(row.label_estimate, n_decimals),
            f"{shown_level} ": interval(row.label_low, row.label_high, n_decimals),
            "corrected": number(row.estimate, n_decimals),
            shown_level: interval(row.low, row.high, n_decimals),
            **more(row),
            "labelled": row.n_labels,
            "judged": row.n_units,
            "lambda": number(row.weight, 2),
            "rho": number(row.correlation, 2),
            "flags": row.flags,
        }
        for row in rows
    ]
    if len({(row.benchmark, row.split) for row in rows}) == 1:
        cells = [{name: cell for name, cell in row.items() if name not in ("benchmark", "split")} for row in cells]
    shown = print_rows(cells, hide_empty=("ranks", "split", "flags"), minor=MINOR)
    print_legend(
        {
            "ranks": "those that the intervals of all differences leave a model, together",
            "judge": f"what {judge} says of all answers; it may be biased, and decides nothing",
            "labels": f"what {human} say of those that were drawn",
            "corrected": "what they would say of all, the judge helping as far as it agrees",
            "lambda": "how far the judge is believed, 0 to 1; rho: its correlation with the labels",
        },
        shown,
    )
    for row in rows:
        if row.reason:
            print_text(f"{row.model_a}{f' - {row.model_b}' if row.model_b else ''}: {row.reason}")


def _ranks(row: CorrectedRow) -> str | None:
    low, high = getattr(row, "rank_low", None), getattr(row, "rank_high", None)
    return None if low is None or high is None else count_range(low, high)
