"""``decide``: is the difference of two recipes more than another training seed makes?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from warehouse.questions.training import Decide

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import decimals, echo, number, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.training.decide import DecisionRow, Decisions


@command("decide")
@options_of(Decide)
@output_options
@pass_state
def decide(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.training.decide import DecisionRow

    with state.open() as store:
        decisions: Decisions = Decide(**options).ask(store)
    if output.for_people:
        _print(decisions)
    else:
        output.emit_records(DecisionRow, decisions.rows)
    state.notes(f"left out {reason}" for reason in decisions.left_out)


def _print(decisions: Decisions) -> None:
    print_text(decisions.one_line)
    echo()
    floors = [row.noise_floor for row in decisions.rows if row.noise_floor]
    places = decimals(floors)
    print_rows(
        [_cells(row, places) for row in decisions.rows],
        needless=("split", "better", "floor from"),
        spare=("floor from", "split", "B", "A"),
    )
    for advice, n in Counter(row.advice for row in decisions.rows if row.advice).items():
        print_text(f"{advice} ({n} row{'s' * (n > 1)})")


def _cells(row: DecisionRow, places: int) -> dict[str, object]:
    floor = number(row.noise_floor, places)
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "A": number(row.mean_a, places),
        "B": number(row.mean_b, places),
        "A - B": number(row.difference, places, sign=True),
        "noise floor": f">= {floor}" if row.floor_from == "jitter" else floor,
        "verdict": row.verdict,
        "better": row.better.upper(),
        "seeds": f"{row.n_seeds_a} + {row.n_seeds_b}",
        "floor from": "" if row.floor_from == "seeds" else row.floor_from.replace("_", " "),
    }
