"""Tables of planned and stopped runs, and of how reliable rankings are."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from warehouse.analysis.report_data.partial_runs import PartialRun, StoredReliability
from warehouse.report.table import count, model_and_condition, name, number, table, text
from warehouse.tables.words import decimals

#: Statistics of a refresh as the page calls them.
_WORDS = {
    "dior_ranking": "Ranking: Kendall's τ",
    "dior_quality": "Quality: 1 − change of win rates",
    "dior_best": "Best: 1 − how often the second beats the first",
    "same_order": "Same order of all models, share of resamples",
    "rank_resolution": "Places that 95 % of ranks stay within",
}


def partial_table(runs: Sequence[PartialRun], benchmark: str) -> Markup:
    """Rows that were asked a part of the benchmark, and what they rest on."""
    rows = [one.row for one in runs]
    places = decimals(row.standard_error for row in rows)
    return table(
        f"Planned and stopped runs of {benchmark}",
        "Planned: the figure of all prompts, from a stratified sample of them. Stopped early: the mean so far, with the"
        " interval that holds whenever one stops; statistics for a fixed number of prompts do not hold for it.",
        [
            *model_and_condition("Run of", [row.model for row in rows], [row.condition for row in rows]),
            text("Kind", [one.kind for one in runs], keep=True),
            count("Prompts", [row.n_prompts for row in rows], keep=True),
            count("Of", [one.n_all for one in runs], keep=True),
            number("Figure", [row.estimate for row in rows], places),
            number("Low", [row.ci_low for row in rows], places),
            number("High", [row.ci_high for row in rows], places),
            text("Rests on", [one.says for one in runs], wrap=True, spare=True),
        ],
    )


def reliability_table(reliability: StoredReliability, name_of: str) -> Markup | None:
    """The figures of a refresh; None where there are none."""
    known = [(key, figure) for key, figure in reliability.figures.items() if figure[0] is not None]
    rows = [(words, "prompts", figure) for key, words in _WORDS.items() for own, figure in known if own == key]
    rows += [
        (words, "scenarios", figure)
        for key, words in _WORDS.items()
        for own, figure in known
        if own == f"scenarios_{key}"
    ]
    if not rows:
        return None
    return table(
        f"Reliability of {name_of}",
        "Resamples held against the whole (DIoR, Perlitz et al. 2024): at least so much in 97.5 % of 1 000; low and"
        " high are Monte Carlo error. As many fresh prompts agree less than resamples.",
        [
            name("Decision", [row[0] for row in rows], wrap=True),
            text("Resampled", [row[1] for row in rows], keep=True),
            number("At least", [row[2][0] for row in rows], 3),
            number("Low", [row[2][1] for row in rows], 3, spare=True),
            number("High", [row[2][2] for row in rows], 3, spare=True),
        ],
    )
