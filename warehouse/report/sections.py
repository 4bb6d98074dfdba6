"""Parts of a report, made ready for the page: claims, training, variance, planned runs, and which columns say
something."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from warehouse.analysis.leaderboard.curve_charts import curve_charts
from warehouse.analysis.leaderboard.curves import BenchmarkCurves
from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.report_data.report import RESAMPLES
from warehouse.analysis.report_data.section_table import SECTIONS
from warehouse.analysis.report_data.suite_part import NEWEST, SuitePart
from warehouse.analysis.selection.selection import RowRules
from warehouse.analysis.training.recipes_report import RecipesRow
from warehouse.analysis.training.seeds_report import SeedsReport
from warehouse.analysis.variance.seed_report import SeedReport
from warehouse.report.board import MOST_LEAVES, board_table, leaves_table, others_table, suite_table
from warehouse.report.figures import board_pictures, suite_picture
from warehouse.report.maps import map_part, prompts_say, prompts_table, suspects_say, suspects_table
from warehouse.report.matrix import matrix_part
from warehouse.report.opening import answer_of
from warehouse.report.pairs import apart, pair_groups
from warehouse.tables.page import PageColumn, count, model_and_condition, name, number, table, text
from warehouse.tables.words import decimals

#: One row a model.
ONE_ROW = RowRules()


def benchmark_section(
    part: BenchmarkPart, level: float = 0.95, *, n_resamples: int = RESAMPLES, seed: int = 0, rows: RowRules = ONE_ROW
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
    with_letters = not any("Group" in picture.head for picture in pictures)
    return {
        "part": part,
        "answer": answer_of(part),
        "claims": benchmark_claims(part, level, n_resamples, seed, rows),
        "board_table": board_table(part, level, with_letters=with_letters) if part.board else None,
        "others_table": others_table(part) if part.board and part.board.others else None,
        "pictures": pictures,
        "groups": pair_groups(part.pairs) if part.pairs else [],
        "legend": []
        if part.board is None
        else [line for line in part.board.legend if with_letters or not line.startswith("group:")],
        "why_no_pairs": part.why_no_pairs if sum(row.method != "published" for row in on_board) > 1 else "",
        "sections": sections_in_html(part),
        "added": [section.html(part, name) for name, section in part.sections.items() if name not in SECTIONS],
        "curves": curve_charts(part.curves) if part.curves else [],
        "findings": _findings(part),
        "curves_table": curves_table(part.curves, part.name) if part.curves else None,
        "noise_table": noise_table(part.noise, part.name) if part.noise else None,
        "seeds_table": seeds_table(part.seeds, part.name) if part.seeds else None,
        "prompts_say": prompts_say(part.hard) if part.hard else "",
        "prompts_table": prompts_table(part.hard, part.name, part.prompts) if part.hard else None,
        "suspects_say": suspects_say(part.suspects) if part.suspects else "",
        "suspects_table": suspects_table(part.suspects, part.name) if part.suspects and part.suspects.rows else None,
        "maps": map_part(part.maps) if part.maps else None,
        "matrix": matrix_part(part.matrix, apart(part.pairs if part.matrix.weights else None)),
        "parts": _parts(part),
    }


def sections_in_html(part: BenchmarkPart) -> list[Markup]:
    """The sections of this package in their order, empty where the benchmark has none."""
    there = part.sections
    return [there[name].html(part, name) if name in there else Markup("") for name in SECTIONS]


def suite_section(part: SuitePart, level: float = 0.95, rows: RowRules = ONE_ROW) -> dict[str, Any]:
    """A suite with its tables."""
    board = part.board
    return {
        "part": part,
        "claim": suite_claim(part, level, rows),
        "picture": suite_picture(part.name, board, level) if board else None,
        "table": suite_table(part.name, board, level) if board else None,
        "sections": [section.suite_html(part.name) for section in part.sections.values()],
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
    sentences += [f"{row.sentence} More: warehouse decide." for row in part.decided.rows] if part.decided else []
    sentences += [_recipes_in_words(row) for row in part.recipes.rows] if part.recipes else []
    return sentences


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


def _parts(part: BenchmarkPart) -> list[tuple[str, str]]:
    """Words and ids of what there is of a benchmark."""
    there = [
        ("Leaderboard", "board", part.board or not part.answer),
        ("Pairs", "pairs", part.pairs and part.pairs.groups),
        *((part.sections[name].WORDS, name, True) for name in SECTIONS if name in part.sections),
        ("Training", "training", part.curves or part.noise),
        ("Prompts", "prompts", part.hard or part.suspects),
        ("Data map", "datamap", part.maps),
        ("Performance matrix", "matrix", part.matrix.found),
        *((section.WORDS, name, True) for name, section in part.sections.items() if name not in SECTIONS),
    ]
    return [(words, name) for words, name, present in there if present]


#: What the commands use where nothing is said.
LEVEL, PAIR_RESAMPLES, SEED = 0.95, 9999, 0


def benchmark_claims(
    part: BenchmarkPart, level: float, n_resamples: int, seed: int, rows: RowRules = ONE_ROW
) -> dict[str, str]:
    """Commands by what they claim: ``board``, ``pairs``, ``variance``; those that the part has.

    Args:
        level, n_resamples, seed, rows: of the report.
    """
    name = shlex.quote(part.name)
    commands = {}
    if part.board is not None and part.board.rows:
        commands["board"] = _claim(f"leaderboard {name}{_level(level)}{_as_rows(rows)}")
    if part.pairs is not None:
        draws = f" --resamples {n_resamples}" if n_resamples != PAIR_RESAMPLES else ""
        draws += f" --seed {seed}" if seed != SEED else ""
        commands["pairs"] = _claim(f"pairs {name}{_level(level)}{draws}{_as_rows(rows)}")
    for section_name, section in part.sections.items():
        for number_of, question in enumerate(section.claims(part)):
            commands[f"{section_name}{number_of or ''}"] = _claim(question)
    return commands


def suite_claim(part: SuitePart, level: float, rows: RowRules = ONE_ROW) -> str:
    """The command for a suite; empty where it has no figure."""
    if part.board is None:
        return ""
    newest = " --latest" if NEWEST in part.board.notes else ""
    return _claim(f"leaderboard --group {shlex.quote(part.name)}{_level(level)}{_as_rows(rows)}{newest}")


def _level(level: float) -> str:
    return f" --level {level:g}" if level != LEVEL else ""


def _as_rows(rules: RowRules) -> str:
    """The options that make the same rows; empty for one row a model."""
    said = "" if rules.each is None else f" --each {rules.each}"
    if rules.repeats != ONE_ROW.repeats:
        said += f" --repeats {rules.repeats.replace('_', '-')}"
    if rules.seeds_are != ONE_ROW.seeds_are:
        said += f" --seeds-are {rules.seeds_are}"
    return said


def _claim(question: str) -> str:
    quoted = shlex.quote(question) if set(question) & set('"$`\\!') else f'"{question}"'
    return f"warehouse claim {quoted} -o claim.json"


def _by_itself(head: str, values: Sequence[float | None], *, minor: bool = False) -> PageColumn:
    """Figures with the decimals that they need themselves."""
    return number(head, values, decimals(values), minor=minor)


def curves_table(curves: BenchmarkCurves, benchmark: str) -> Markup:
    """First, last and best figure of every curve."""
    rows = curves.rows
    n_decimals = decimals(
        (p.ci_high - p.ci_low) / 4 for row in rows for p in row.points if p.ci_high is not None and p.ci_low is not None
    )
    return table(
        f"Curves of {benchmark}",
        "Curves along training, the best last figure first. Monotonicity: Kendall's τ-b of the figures with the order"
        " of the checkpoints; above 0 is getting better.",
        [
            *model_and_condition("Model", [row.model for row in rows], [row.condition for row in rows]),
            text("Metric", [row.metric for row in rows], minor=True),
            text("Split", [row.split for row in rows], minor=True),
            text("Unit", [row.unit for row in rows], minor=True),
            count("Checkpoints", [row.n_checkpoints for row in rows], keep=True),
            number("First", [row.first for row in rows], n_decimals, minor=True),
            number("Last", [row.last for row in rows], n_decimals),
            number("Best", [row.best for row in rows], n_decimals),
            number("Best at", [row.best_position for row in rows], "%g", minor=True),
            number("Monotonicity", [row.monotonicity for row in rows], 2, sign=True, minor=True),
        ],
    )


def noise_table(noise: SeedsReport, benchmark: str) -> Markup:
    """What another seed or checkpoint changes."""
    rows = noise.rows
    n_decimals = decimals(row.seed_sd for row in rows)
    return table(
        f"Noise of training on {benchmark}",
        "What another seed or checkpoint changes. Noise floor: difference of two single runs of one recipe that seeds"
        f" alone exceed in {100 * (1 - noise.level):.2g} % of cases.",
        [
            name("Recipe of", [row.model for row in rows]),
            text("Recipe", [row.recipe for row in rows], wrap=True),
            count("Seeds", [row.n_seeds for row in rows], keep=True),
            count("Checkpoints", [row.n_checkpoints for row in rows]),
            number("Last", [row.seed_mean for row in rows], n_decimals),
            _by_itself("SD over seeds", [row.seed_sd for row in rows], minor=True),
            _by_itself("Low", [row.seed_sd_low for row in rows], minor=True),
            _by_itself("High", [row.seed_sd_high for row in rows], minor=True),
            _by_itself("Half-width of a run", [row.half_width for row in rows], minor=True),
            _by_itself("Noise floor", [row.noise_floor for row in rows]),
            _by_itself("Jitter", [row.jitter for row in rows], minor=True),
            text("Why no floor", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )


def seeds_table(seeds: SeedReport, benchmark: str) -> Markup:
    """Training seeds crossed with prompts."""
    rows = seeds.rows
    n_decimals = decimals(row.se_both_sampled for row in rows)
    return table(
        f"Training seeds of {benchmark}",
        "Training seeds crossed with prompts: the error of the mean by what is taken to be a sample.",
        [
            name("Seeds of", [row.model for row in rows]),
            text("Recipe", [row.recipe for row in rows], wrap=True),
            text("Position", [f"{row.position}" for row in rows]),
            count("Seeds", [row.n_seeds for row in rows]),
            number("Mean", [row.estimate for row in rows], n_decimals),
            _by_itself("SD over seeds", [row.seed_sd for row in rows], minor=True),
            _by_itself("SE, prompts sampled", [row.se_seeds_fixed for row in rows], minor=True),
            _by_itself("SE, seeds sampled", [row.se_prompts_fixed for row in rows], minor=True),
            _by_itself("SE, both", [row.se_both_sampled for row in rows]),
            count("Prompts", [row.n_prompts for row in rows]),
            count("Left out", [row.n_left_out for row in rows]),
            text("Why no figure", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )
