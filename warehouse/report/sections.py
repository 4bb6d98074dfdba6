"""Parts of a report, made ready for the page: axes, labels, and which columns say something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.suite import SuitePart
from warehouse.report.board import MOST_LEAVES, board_table, leaves_table, others_table, suite_table
from warehouse.report.curves import curve_charts
from warehouse.report.item_tables import prompts_say, prompts_table, suspects_say, suspects_table
from warehouse.report.maps import map_part
from warehouse.report.matrix import matrix_part
from warehouse.report.opening import answer_of
from warehouse.report.pairs import apart, pair_groups
from warehouse.report.part_tables import curves_table, noise_table, seeds_table, variance_table


def benchmark_section(
    part: BenchmarkPart, level: float = 0.95, prompts: Mapping[int, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """A benchmark with its tables and charts.

    Args:
        level: nominal coverage of the intervals.
        prompts: by id, what the single prompts that it names ask.
    """
    rows = part.board.rows if part.board else ()
    return {
        "part": part,
        "answer": answer_of(part),
        "board_table": board_table(part, level) if part.board else None,
        "others_table": others_table(part) if part.board and part.board.others else None,
        "groups": pair_groups(part.pairs) if part.pairs else [],
        "variance_table": variance_table(part.variance, part.name) if part.variance else None,
        "curves": curve_charts(part.curves) if part.curves else [],
        "findings": _findings(part),
        "curves_table": curves_table(part.curves, part.name) if part.curves else None,
        "noise_table": noise_table(part.noise, part.name) if part.noise else None,
        "seeds_table": seeds_table(part.seeds, part.name) if part.seeds else None,
        "prompts_say": prompts_say(part.hard) if part.hard else "",
        "prompts_table": prompts_table(part.hard, part.name, prompts or {}) if part.hard else None,
        "suspects_say": suspects_say(part.suspects) if part.suspects else "",
        "suspects_table": suspects_table(part.suspects, part.name) if part.suspects and part.suspects.rows else None,
        "maps": map_part(part.maps) if part.maps else None,
        "matrix": matrix_part(part.matrix, apart(part.pairs)),
        "can_have_matrix": sum(row.method != "published" and row.n_prompts > 1 for row in rows) > 1,
        "parts": _parts(part),
    }


def suite_section(part: SuitePart, level: float = 0.95) -> dict[str, Any]:
    """A suite with its tables."""
    board = part.board
    return {
        "part": part,
        "table": suite_table(part.name, board, level) if board else None,
        "leaves": leaves_table(part.name, board) if board and len(board.leaves) <= MOST_LEAVES else None,
    }


def _findings(part: BenchmarkPart) -> list[str]:
    """What curves and seeds show, in plain sentences."""
    said = []
    if part.along:
        corrected = "tests against chance and of drops are corrected over the checkpoints of a curve (Holm)"
        said.append(f"Along training: {part.along}; {corrected}.")
        said += [f"{words}." for words in dict.fromkeys(row.crossing_in_words for row in part.along.rows) if words]
    floors = [row.noise_floor for row in part.noise.rows if row.noise_floor is not None] if part.noise else []
    if floors:
        several = f"{min(floors):.3g} to {max(floors):.3g}" if len(floors) > 1 else f"{floors[0]:.3g}"
        said.append(
            f"Two single runs of one recipe differ by more than {several} in 5 % of cases, by their seeds alone."
        )
    return said


def _parts(part: BenchmarkPart) -> list[tuple[str, str]]:
    """Words and ids of what there is of a benchmark."""
    there = [
        ("Leaderboard", "board", True),
        ("Pairs", "pairs", True),
        ("Variance", "variance", True),
        ("Training", "training", part.curves or part.noise),
        ("Prompts", "prompts", part.hard or part.suspects),
        ("Data map", "datamap", part.maps),
        ("Performance matrix", "matrix", part.matrix.found),
    ]
    return [(words, name) for words, name, found in there if found]
