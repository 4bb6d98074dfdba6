"""Parts of a report, made ready for the page: claims, training, variance, planned runs,
and which columns say something."""

from __future__ import annotations

import shlex
from typing import Any

from markupsafe import Markup

from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.report_data.report import RESAMPLES
from warehouse.analysis.report_data.section_table import SECTIONS
from warehouse.analysis.report_data.suite_part import NEWEST, SuitePart
from warehouse.analysis.selection.selection import RowRules
from warehouse.report.board import (
    MOST_LEAVES,
    board_table,
    leaves_table,
    others_table,
    suite_table,
)
from warehouse.report.figures import board_pictures, suite_picture
from warehouse.report.opening import answer_of
from warehouse.report.pairs import pair_groups

#: What places are.
PLACE = (
    "place: from 1 + models shown to be better, to all but those shown to be worse "
    "(Holm over all pairs, {size} %)"
)
#: One row a model.
ONE_ROW = RowRules()


def benchmark_section(
    part: BenchmarkPart,
    level: float = 0.95,
    *,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    rows: RowRules = ONE_ROW,
) -> dict[str, Any]:
    """A benchmark with its tables and charts.

    Args:
        level: nominal coverage of the intervals.
        n_resamples: draws behind simultaneous intervals.
        seed: of the draws.
        rows: what makes a row.
    """
    on_board = part.board.rows if part.board else ()
    pictures = board_pictures(part, level)
    own_table, others, legend = None, None, []
    if part.board:
        own_table = board_table(part, level)
        if part.board.others:
            others = others_table(part)
    if any(row.statistical_rank is not None for row in on_board):
        legend = [PLACE.format(size=f"{100 * (1 - level):.2g}")]
    in_percent = part.board is not None and part.board.is_share
    why_no_pairs = ""
    if sum(row.method != "published" for row in on_board) > 1:
        why_no_pairs = part.why_no_pairs
    return {
        "part": part,
        "answer": answer_of(part),
        "claims": benchmark_claims(part, level, n_resamples, seed, rows),
        "board_table": own_table,
        "others_table": others,
        "pictures": pictures,
        "groups": pair_groups(part.pairs, in_percent=in_percent) if part.pairs else [],
        "legend": legend,
        "why_no_pairs": why_no_pairs,
        "sections": sections_in_html(part),
        "parts": _parts(part),
    }


def sections_in_html(part: BenchmarkPart) -> list[Markup]:
    """The sections in their order: those of this package, empty where the benchmark has
    none, and those of others."""
    names = dict.fromkeys([*SECTIONS, *part.sections])
    there = part.sections
    return [
        there[name].html(part, name) if name in there else Markup("") for name in names
    ]


def suite_section(
    part: SuitePart, level: float = 0.95, rows: RowRules = ONE_ROW
) -> dict[str, Any]:
    """A suite with its tables."""
    board = part.board
    picture, own_table, leaves = None, None, None
    if board:
        picture = suite_picture(part.name, board, level)
        own_table = suite_table(part.name, board, level)
        if len(board.leaves) <= MOST_LEAVES:
            leaves = leaves_table(part.name, board)
    return {
        "part": part,
        "claim": suite_claim(part, level, rows),
        "picture": picture,
        "table": own_table,
        "sections": [
            section.suite_html(part.name) for section in part.sections.values()
        ],
        "leaves": leaves,
    }


def _parts(part: BenchmarkPart) -> list[tuple[str, str]]:
    """Words and ids of what there is of a benchmark."""
    there = [
        ("Leaderboard", "board", part.board or not part.answer),
        ("Pairs", "pairs", part.pairs and part.pairs.groups),
        *((section.WORDS, name, True) for name, section in part.sections.items()),
    ]
    return [(words, name) for words, name, present in there if present]


#: What the commands use where nothing is said.
LEVEL, PAIR_RESAMPLES, SEED = 0.95, 9999, 0


def benchmark_claims(
    part: BenchmarkPart,
    level: float,
    n_resamples: int,
    seed: int,
    rows: RowRules = ONE_ROW,
) -> dict[str, str]:
    """Commands by what they claim: ``board``, ``pairs``, ``variance``; those that the
    part has.

    Args:
        level, n_resamples, seed, rows: of the report.
    """
    name = shlex.quote(part.name)
    commands = {}
    if part.board is not None and part.board.rows:
        commands["board"] = _claim(f"leaderboard {name}{_level(level)}{_as_rows(rows)}")
    if part.pairs is not None:
        draws = ""
        if n_resamples != PAIR_RESAMPLES:
            draws += f" --resamples {n_resamples}"
        if seed != SEED:
            draws += f" --seed {seed}"
        commands["pairs"] = _claim(
            f"pairs {name}{_level(level)}{draws}{_as_rows(rows)}"
        )
    for section_name, section in part.sections.items():
        for number_of, question in enumerate(section.claims(part)):
            commands[f"{section_name}{number_of or ''}"] = _claim(question)
    return commands


def suite_claim(part: SuitePart, level: float, rows: RowRules = ONE_ROW) -> str:
    """The command for a suite; empty where it has no figure."""
    if part.board is None:
        return ""
    newest = ""
    if NEWEST in part.board.notes:
        newest = " --latest"
    return _claim(
        "leaderboard --group "
        f"{shlex.quote(part.name)}{_level(level)}{_as_rows(rows)}{newest}"
    )


def _level(level: float) -> str:
    if level == LEVEL:
        return ""
    return f" --level {level:g}"


def _as_rows(rules: RowRules) -> str:
    """The options that make the same rows; empty for one row a model."""
    if rules.each is None:
        said = ""
    else:
        said = f" --each {rules.each}"
    if rules.repeats != ONE_ROW.repeats:
        said += f" --repeats {rules.repeats.replace('_', '-')}"
    if rules.seeds_are != ONE_ROW.seeds_are:
        said += f" --seeds-are {rules.seeds_are}"
    return said


def _claim(question: str) -> str:
    if set(question) & set('"$`\\!'):
        quoted = shlex.quote(question)
    else:
        quoted = f'"{question}"'
    return f"warehouse claim {quoted} -o claim.json"
