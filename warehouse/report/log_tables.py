"""Tables of the store behind the figures: published ones, sources, samples without a
score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from markupsafe import Markup

from warehouse.tables.page import (
    PageColumn,
    broken,
    count,
    html,
    name,
    number,
    table,
    text,
)

Row = dict[str, Any]
#: Rows of the table of published figures.
MOST_PUBLISHED = 500


def contents_table(
    pages: Sequence[Any], answers: Mapping[str, Markup], verdicts: str
) -> Markup:
    """The benchmarks, each with its sentence and a link to its page.

    Args:
        answers: sentences by the file of the page; none where they stand elsewhere.
    """
    links = [
        Markup('<a href="{}"><bdi>{}</bdi></a>').format(page.file, broken(page.name))
        for page in pages
    ]
    return table(
        "Benchmarks",
        "The page of a benchmark holds all of its leaderboard. Published against "
        f"recomputed: {verdicts or 'no source publishes a figure'}.",
        [
            PageColumn(
                "Benchmark", "", tuple(f'<th scope="row">{link}</th>' for link in links)
            ),
            html("In short", [answers[page.file] for page in pages])
            if answers
            else None,
            text("Metric", [page.metric for page in pages], minor=True),
            count("Conditions", [page.n_rows for page in pages]),
            count(
                "Published that contradict", [page.n_contradicting for page in pages]
            ),
            count("Unscored", [page.n_unscored for page in pages]),
        ],
    )


def published_table(rows: Sequence[Row], caption: str) -> Markup:
    """Figures that sources publish, and the same from their samples; the first of very
    many."""
    recomputable = [
        row for row in rows if row["verdict"] != "not_recomputable"
    ] or list(rows)
    left_out = len(rows) - len(recomputable)
    if left_out:
        caption += f" Not listed: {left_out} whose samples the store does not hold."
    if len(recomputable) > MOST_PUBLISHED:
        caption += (
            f" The first {MOST_PUBLISHED} of {len(recomputable)}: warehouse query "
            "published_against_recomputed"
        )
    rows = sorted(recomputable, key=lambda row: row["verdict"] != "contradicts")[
        :MOST_PUBLISHED
    ]
    n_decimals = _n_decimals_of(rows)
    return table(
        "Figures that sources publish",
        caption,
        [
            name("Model", [row["model"] for row in rows]),
            text("Benchmark", [_benchmark(row) for row in rows], keep=True),
            text("Metric", [_metric(row) for row in rows], minor=True),
            text("Statistic", [row["statistic"] for row in rows], minor=True),
            number("Published", [row["published"] for row in rows], n_decimals),
            number(
                "Recomputed",
                [row["recomputed"] for row in rows],
                n_decimals,
                minor=True,
            ),
            number(
                "Difference", [row["difference"] for row in rows], "%.3g", minor=True
            ),
            count("Prompts", [row["n_found"] for row in rows]),
            text(
                "Verdict",
                [str(row["verdict"]).replace("_", " ") for row in rows],
                keep=True,
                wrap=True,
                classes=[
                    "bad" if row["verdict"] == "contradicts" else "" for row in rows
                ],
            ),
        ],
    )


def errors_table(rows: Sequence[Row]) -> Markup:
    """Standard errors that sources publish, and the formula behind each."""
    n_decimals = _n_decimals_of(rows)
    return table(
        "Published standard errors",
        "Standard errors that sources publish, and the formula that gives them from "
        "the samples. naive: prompts taken as independent; naive n: the same, with n "
        "for n - 1; clustered: by a clustering of the benchmark. Unexplained: by none "
        "of these.",
        [
            name("Model of the error", [row["model"] for row in rows]),
            text("Benchmark", [_benchmark(row) for row in rows]),
            text("Metric", [_metric(row) for row in rows], minor=True),
            text("Statistic", [row["statistic"] for row in rows], minor=True),
            number("Published error", [row["published"] for row in rows], n_decimals),
            number(
                "By the formula",
                [row["recomputed"] for row in rows],
                n_decimals,
                minor=True,
            ),
            count("Prompts", [row["n_prompts"] for row in rows]),
            text(
                "Verdict on the error", [_error_verdict(row) for row in rows], wrap=True
            ),
        ],
    )


def sources_table(rows: Sequence[Row]) -> Markup:
    """The sources behind what is shown."""
    return table(
        "Sources that were read",
        "What was read for the figures above. Of each path as much as tells it from "
        "the others; times are UTC.",
        [
            count("Source", [row["source_id"] for row in rows], keep=True, minor=False),
            name("Path", short_paths([row["path"] or "" for row in rows]), wrap=True),
            text("Format", [row["format"] for row in rows], minor=True),
            text("State", [row["state"] for row in rows], minor=True),
            count("Runs", [row["n_runs"] for row in rows]),
            count(
                "Samples", [row["n_samples"] for row in rows], minor=False, keep=True
            ),
            count("Scores", [row["n_scores"] for row in rows]),
            count("Rejected", [row["n_rejected"] for row in rows]),
            text(
                "Begun",
                [
                    f"{row['claimed_at']:%Y-%m-%d %H:%M}" if row["claimed_at"] else ""
                    for row in rows
                ],
                minor=True,
            ),
        ],
    )


def unscored_table(rows: Sequence[Row]) -> Markup:
    """Samples without a score."""
    return table(
        "Samples without a score",
        Markup(
            "Samples without a score, which are in no estimate. One by one:"
            " <code>warehouse query unscored_samples</code>"
        ),
        [
            name("Benchmark", [row["benchmark"] for row in rows]),
            text("Model", [row["model"] for row in rows], wrap=True, keep=True),
            count("Run", [row["run_id"] for row in rows], keep=True),
            text("Metric", [_metric(row) for row in rows], minor=True),
            text(
                "Status",
                [(row["status"] or "").replace("_", " ") for row in rows],
                minor=True,
            ),
            count(
                "Samples", [row["n_samples"] for row in rows], minor=False, keep=True
            ),
        ],
    )


def short_paths(paths: Sequence[str]) -> list[str]:
    """The shortest end of each path that no other has; addresses of a network whole."""
    parts = [_parts(path) for path in paths]
    short: dict[tuple[str, ...], str] = {}
    longest = max(map(len, parts), default=0)
    for length in range(1, longest + 1):
        open_ends = {own for own in parts if own not in short}
        ends = Counter(own[-length:] for own in {*parts})
        short |= {
            own: "/".join(own[-length:])
            for own in open_ends
            if ends[own[-length:]] == 1 or length >= len(own)
        }
    return [short[own] for own in parts]


def _parts(path: str) -> tuple[str, ...]:
    if "://" in path:
        return (path,)
    windows = "\\" in path and "/" not in path
    pure = PureWindowsPath(path) if windows else PurePosixPath(path)
    return tuple(part for part in pure.parts if part not in (pure.anchor, "..")) or (
        path,
    )


def _n_decimals_of(rows: Iterable[Row]) -> int:
    """Decimals of the published figures and the recomputed ones."""
    figures: list[float | None] = []
    for row in rows:
        figures += [row["published"], row["recomputed"]]
    return _n_decimals(figures)


def _n_decimals(values: Iterable[float | None]) -> int:
    """Decimals that show six digits of the largest figure, the same for all."""
    largest = max(
        (abs(value) for value in values if value is not None and value == value),
        default=1.0,
    )
    if largest <= 1:
        return 6
    return max(6 - len(f"{largest:.0f}"), 0)


def verdicts_in_words(rows: Sequence[Row]) -> str:
    """How often each verdict was given."""
    counts = sorted(Counter(str(row["verdict"]) for row in rows).items())
    return ", ".join(
        f"{verdict.replace('_', ' ')}: {number}" for verdict, number in counts
    )


def _benchmark(row: Row) -> str:
    if row["split"]:
        return f"{row['benchmark']} ({row['split']})"
    return str(row["benchmark"])


def _metric(row: Row) -> str:
    if row["metric_filter"]:
        return f"{row['metric']},{row['metric_filter']}"
    return str(row["metric"])


def _error_verdict(row: Row) -> str:
    words = str(row["verdict"])
    if row["clustering"]:
        words = f"{words} ({row['clustering']})"
    return words.replace("_", " ")
