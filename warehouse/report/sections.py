"""Parts of a report, made ready for the page: axes, labels, and which columns say something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.partial_runs import SuitePart
from warehouse.analysis.report_data.report import RESAMPLES
from warehouse.analysis.training.decide import DecisionRow
from warehouse.analysis.training.recipes import RecipesRow
from warehouse.report.board import MOST_LEAVES, board_table, leaves_table, others_table, suite_table
from warehouse.report.claims import benchmark_claims, suite_claim
from warehouse.report.curves import curve_charts
from warehouse.report.item_tables import prompts_say, prompts_table, suspects_say, suspects_table
from warehouse.report.maps import map_part
from warehouse.report.matrix import matrix_part
from warehouse.report.opening import answer_of
from warehouse.report.pairs import apart, pair_groups
from warehouse.report.part_tables import curves_table, noise_table, seeds_table, variance_table
from warehouse.report.partial_tables import partial_table, reliability_table
from warehouse.tables.words import decimals, fixed

#: Sentences below a table of variances.
MOST_ADVICE = 6


def benchmark_section(
    part: BenchmarkPart,
    level: float = 0.95,
    prompts: Mapping[int, Mapping[str, Any]] | None = None,
    *,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Any]:
    """A benchmark with its tables and charts.

    Args:
        level: nominal coverage of the intervals.
        prompts: by id, what the single prompts that it names ask.
        n_resamples: draws behind simultaneous intervals.
        seed: of the draws.
    """
    rows = part.board.rows if part.board else ()
    return {
        "part": part,
        "answer": answer_of(part),
        "claims": benchmark_claims(part, level, n_resamples, seed),
        "board_table": board_table(part, level) if part.board else None,
        "others_table": others_table(part) if part.board and part.board.others else None,
        "groups": pair_groups(part.pairs) if part.pairs else [],
        "variance_table": variance_table(part.variance, part.name) if part.variance else None,
        "variance_advice": _advice(part) if part.variance else [],
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
        "partial_table": partial_table(part.partial, part.name) if part.partial else None,
        "reliability_table": reliability_table(part.reliability, part.name) if part.reliability else None,
        "parts": _parts(part),
    }


def suite_section(part: SuitePart, level: float = 0.95) -> dict[str, Any]:
    """A suite with its tables."""
    board = part.board
    return {
        "part": part,
        "claim": suite_claim(part, level),
        "table": suite_table(part.name, board, level) if board else None,
        "reliability_table": reliability_table(part.reliability, part.name) if part.reliability else None,
        "leaves": leaves_table(part.name, board) if board and len(board.leaves) <= MOST_LEAVES else None,
    }


def _findings(part: BenchmarkPart) -> list[str]:
    """What curves and seeds show, in plain sentences."""
    sentences = []
    if part.along:
        corrected = "tests against chance and of drops are corrected over the checkpoints of a curve (Holm)"
        sentences.append(f"Along training: {part.along.one_line}; {corrected}.")
        sentences += [
            f"{words[0].upper()}{words[1:]}."
            for words in dict.fromkeys(row.crossing_in_words for row in part.along.rows)
            if words
        ]
    floors = [row.noise_floor for row in part.noise.rows if row.noise_floor is not None] if part.noise else []
    if part.noise and floors:
        several = f"{min(floors):.3g} to {max(floors):.3g}" if len(floors) > 1 else f"{floors[0]:.3g}"
        sentences.append(
            f"Two single runs of one recipe differ by more than {several} in {100 * (1 - part.noise.level):.2g} % of"
            " cases, by their seeds alone."
        )
    sentences += [_decision_in_words(row) for row in part.decided.rows] if part.decided else []
    sentences += [_recipes_in_words(row) for row in part.recipes.rows] if part.recipes else []
    return sentences


def _decision_in_words(row: DecisionRow) -> str:
    """Whether the two best trained models differ by more than their seeds do."""
    places = decimals([row.noise_floor])
    least = "at least " if row.floor_from == "jitter" else ""
    floor = "" if row.noise_floor is None else f", noise floor {least}{fixed(row.noise_floor, places)}"
    gap = f"{fixed(row.difference, places, sign=True)}{floor}"
    return f"{row.model_a} against {row.model_b} by {row.metric}: {row.verdict} ({gap}). More: warehouse decide."


def _recipes_in_words(row: RecipesRow) -> str:
    """Whether a benchmark can decide between recipes."""
    n = row.n_recipes if row.n_both is None else row.n_both
    of = f" by {row.metric}{f' ({row.split})' if row.split else ''}"
    verdict = "does not show whether it can decide" if row.verdict == "cannot tell" else row.verdict
    why = "the noise of their training is not known"
    if row.noise_sd is not None and row.ceiling is not None:
        most = f"at most {100 * row.ceiling:.0f} % of pairs come out in the right order"
        why = f"by their noise ({row.noise_from}) {most}"
    return f"Between its {n} recipes this benchmark{of} {verdict}: {why}. More: warehouse recipes."


def _advice(part: BenchmarkPart) -> list[str]:
    """What more draws and more prompts would save, each sentence with those that it holds of."""
    of: dict[str, list[str]] = {}
    for row in part.variance.rows if part.variance else ():
        if row.share_between is not None and row.advice:
            of.setdefault(row.advice, []).append(f"{row.model} ({row.condition})" if row.condition else row.model)
    return [f"{', '.join(names)}: {words}" for words, names in list(of.items())[:MOST_ADVICE]]


def _parts(part: BenchmarkPart) -> list[tuple[str, str]]:
    """Words and ids of what there is of a benchmark."""
    there = [
        ("Leaderboard", "board", True),
        ("Pairs", "pairs", True),
        ("Variance", "variance", True),
        ("Parts of it", "partial", part.partial),
        ("Reliability", "reliability", part.reliability),
        ("Training", "training", part.curves or part.noise),
        ("Prompts", "prompts", part.hard or part.suspects),
        ("Data map", "datamap", part.maps),
        ("Performance matrix", "matrix", part.matrix.found),
    ]
    return [(words, name) for words, name, present in there if present]
