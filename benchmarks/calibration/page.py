"""docs/reference/calibration.md: written from the rows of the grid, and read back by the tests."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from calibration.cells import Cell
from calibration.hard import HardRow, section
from calibration.simulate import LEVELS, REACHED, Row
from calibration.weighted import WeightedRow, weighted_section

_COLUMNS = (
    *(
        "kind",
        "draws",
        "rate",
        "prompts",
        "clusters",
        "correlation",
        "simulations",
        "coverage",
        "mc_error",
    ),
    *("flagged", "missed", "method", "width"),
)
_NAMES = {
    "rate": "shares of right draws",
    "normal": "normal scores",
    "exponential": "exponential scores (skewed)",
    "beta": "Beta(½, 2) scores (bounded, skewed)",
    "paired": "paired differences of such shares",
}
UNFLAGGED = 0.93  # what intervals without a flag have to cover
_SEEN, _WORST = (
    0.2,
    15,
)  # share of samples without a flag from which on a cell counts; rows shown


def write_page(
    path: Path,
    rows: Sequence[Row],
    again: tuple[int, int],
    hard: Sequence[HardRow],
    weighted: Sequence[WeightedRow],
) -> None:
    """The whole page, from the rows of the grid, `reached` of another seed, the hard
    cases and weighted means."""
    intervals = [row for row in rows if row.cell.kind != "paired"]
    parts = [_HEAD, _summary(intervals, again), _unflagged(rows), section(list(hard))]
    parts += [weighted_section(list(weighted)), _tests(rows)]
    path.write_text("".join([*parts, _TABLE]), encoding="utf-8")
    table = _table_of(path)
    table.parent.mkdir(exist_ok=True)
    table.write_text(_table(rows), encoding="utf-8")


def _table_of(page: Path) -> Path:
    return page.parent / "calibration" / "intervals.csv"


def read_rows(path: Path) -> list[Row]:
    """The rows of the table of a page."""
    lines = csv.DictReader(io.StringIO(_table_of(path).read_text(encoding="utf-8")))
    return [_row(line) for line in lines]


def _row(line: dict[str, str]) -> Row:
    cell = Cell(
        line["kind"],
        int(line["draws"]),
        float(line["rate"]),
        int(line["prompts"]),
        int(line["clusters"]) if line["clusters"] else None,
        float(line["correlation"]),
    )
    return Row(
        cell,
        int(line["simulations"]),
        float(line["coverage"]),
        float(line["mc_error"]),
        float(line["flagged"]),
        float(line["missed"]),
        line["method"],
        float(line["width"]),
    )


def _table(rows: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        cell = ["" if value is None else f"{value:g}" for value in row.cell[1:]]
        shares = (row.coverage, row.mc_error, row.flagged, row.missed)
        seen = tuple(f"{share:.4f}" for share in shares)
        writer.writerow(
            [
                row.cell.kind,
                *cell,
                row.simulations,
                *seen,
                row.method,
                f"{row.width:.4g}",
            ]
        )
    return out.getvalue()


def _summary(rows: Sequence[Row], again: tuple[int, int]) -> str:
    short = [row for row in rows if row.coverage < REACHED]
    mean = sum(row.coverage for row in rows) / len(rows)
    share = 1 - len(short) / len(rows)
    warned = sum(row.flagged >= 0.5 for row in short)
    lines = [
        "## Intervals\n",
        f"{len(rows)} cells, nominal coverage 95 %. The default interval covers at "
        f"least {100 * REACHED:.0f} % in **{100 * share:.1f} %** of them "
        f"({len(rows) - len(short)} of {len(rows)}); its average coverage is "
        f"**{100 * mean:.2f} %**. Of the {len(short)} cells below, {warned} carry a "
        f"flag in at least half of their samples.{_again(*again)}\n",
        "| scores | cells | reached | lowest | average |",
        "| --- | ---: | ---: | ---: | ---: |",
        *_by_kind(rows),
        f"\n### Cells below {100 * REACHED:.0f} %\n",
        "*flagged* is the share of samples that carry a flag.\n",
        *_exceptions(short),
    ]
    return "\n".join(lines) + "\n"


def reached(rows: Sequence[Row]) -> tuple[int, int]:
    """How many cells of intervals cover what they should, and how many there are."""
    intervals = [row for row in rows if row.cell.kind != "paired"]
    return sum(row.coverage >= REACHED for row in intervals), len(intervals)


def read_again(page: str) -> tuple[int, int]:
    """`reached` of the other seed, as a page tells it; no cells where it does not."""
    match = re.search(
        r"another seed, it reaches that in [\d.]+ %\s+\((\d+) of (\d+)\)", page
    )
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _again(reached: int, cells: int) -> str:
    if not cells:
        return ""
    return (
        " Simulated once more with another seed, it reaches that in "
        f"{100 * reached / cells:.1f} % ({reached} of {cells})."
    )


def _unflagged(rows: Sequence[Row]) -> str:
    """What carries no flag and does not hold: the worst cells, intervals and paired
    differences."""
    plain = [row for row in rows if row.flagged <= 1 - _SEEN and row.method != "hull"]
    short = [
        row for row in plain if row.unflagged_coverage + 2 * _error(row) < UNFLAGGED
    ]
    worst = sorted(plain, key=lambda row: row.unflagged_coverage)[:_WORST]
    missed = max(row.missed for row in rows)
    lines = [
        "## Without a flag\n",
        "Flags of the hull inform only (the samples without one are those that look "
        f"symmetric), so that it is left out here. In {len(plain)} of the {len(rows)} "
        f"cells (those of the tests among them) at least {100 * _SEEN:.0f} % of the "
        "samples carry no flag. Among these samples the interval covers less than "
        f"{100 * UNFLAGGED:.0f} % in **{len(short)}** cells (by more than two Monte "
        "Carlo errors); the largest share of all samples that miss and carry no flag is"
        f" **{100 * missed:.1f} %**. The lowest coverages without a flag:\n",
        "| scores | K | p | n | G | correlation | covers, unflagged | flagged | missed "
        "without a flag | method |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in worst:
        texts = [
            *_texts(row.cell),
            f"{100 * row.unflagged_coverage:.1f} ± {100 * _error(row):.1f} %",
            f"{100 * row.flagged:.0f} %",
            f"{100 * row.missed:.1f} %",
            f"`{row.method}`",
        ]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines) + "\n\n"


def _texts(cell: Cell) -> list[str]:
    """A cell, as the tables show it."""
    correlation = f"{cell.correlation:g}" if cell.clusters else ""
    return [cell.kind, *(f"{figure or ''}" for figure in cell[1:5]), correlation]


def _error(row: Row) -> float:
    """Monte Carlo standard error of the coverage among the samples without a flag."""
    share = row.unflagged_coverage
    return float((share * (1 - share) / ((1 - row.flagged) * row.simulations)) ** 0.5)


def _by_kind(rows: Sequence[Row]) -> list[str]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        draws = f", K = {row.cell.draws}" if row.cell.draws else ""
        shape = "clusters" if row.cell.clusters else "no clusters"
        groups.setdefault(f"{_NAMES[row.cell.kind]}{draws}, {shape}", []).append(row)
    return [
        f"| {name} | {len(part)} | {sum(row.coverage >= REACHED for row in part)}"
        f" | {100 * min(row.coverage for row in part):.1f} %"
        f" | {100 * sum(row.coverage for row in part) / len(part):.1f} % |"
        for name, part in groups.items()
    ]


def _exceptions(rows: Sequence[Row]) -> list[str]:
    lines = []
    for reason, holds in _REASONS:
        part = [row for row in rows if holds(row) and not _explained(row, reason)]
        if part:
            lines += [
                f"**{reason}**\n",
                *_rows(part, "coverage", lambda row: row.coverage),
                "",
            ]
    return lines


def _explained(row: Row, reason: str) -> bool:
    """Whether an earlier reason holds as well."""
    return next(name for name, holds in _REASONS if holds(row)) != reason


def _rows(rows: Sequence[Row], name: str, figure: Callable[[Row], float]) -> list[str]:
    lines = [
        f"| scores | K | p | n | G | correlation | {name} | flagged | method |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        texts = [
            *_texts(row.cell),
            f"{100 * figure(row):.1f} ± {100 * row.mc_error:.1f} %",
            f"{100 * row.flagged:.0f} %",
            f"`{row.method}`",
        ]
        lines.append(f"| {' | '.join(texts)} |")
    return lines


def _tests(rows: Sequence[Row]) -> str:
    """Rejection rates: paired differences, and one mean of unbounded scores."""
    tested = [
        row for row in rows if row.cell.kind in ("paired", "normal", "exponential")
    ]
    plain = [row for row in tested if row.flagged < 0.5]
    wrong = [row for row in plain if not _holds_level(row)]
    low, high = (100 * level for level in LEVELS)
    lines = [
        "## Tests\n",
        "The t test of paired differences (CR2 with Satterthwaite's degrees of freedom "
        "for clusters) and the same test of one mean of unbounded scores, at 5 %, "
        f"under the null. {len(tested)} cells; in {len(plain)} of them most samples "
        f"carry no flag, and **{len(plain) - len(wrong)}** of these reject in "
        f"{low:.0f}–{high:.0f} % of the samples (within two Monte Carlo errors).\n",
    ]
    if wrong:
        lines += [
            "Cells without a flag in most samples that reject otherwise:\n",
            *_rows(wrong, "rejected", lambda row: 1 - row.coverage),
            "",
        ]
    return "\n".join(lines) + "\n"


def _holds_level(row: Row) -> bool:
    """Whether the rate of rejection is within the levels, give or take two Monte Carlo
    errors."""
    room = 2 * row.mc_error
    return LEVELS[0] - room <= 1 - row.coverage <= LEVELS[1] + room


def _independent_binary(row: Row) -> bool:
    return row.method == "wilson"


def _too_close(row: Row) -> bool:
    return row.flagged < 0.5 and row.coverage + 2 * row.mc_error >= REACHED


def _few_off_bound(row: Row) -> bool:
    return (
        row.cell.kind == "rate" and row.cell.clusters is not None and row.flagged >= 0.5
    )


def _skewed(row: Row) -> bool:
    return row.cell.kind == "exponential"


_REASONS: list[tuple[str, Callable[[Row], bool]]] = [
    (
        f"Without a flag: within two Monte Carlo errors of {100 * REACHED:.0f} %, so "
        "that the simulation does not tell on which side they are",
        _too_close,
    ),
    (
        "0/1 scores without clusters: the number of right answers is a whole number, "
        "and Wilson's coverage goes up and down with n and p (Brown, Cai and DasGupta "
        "2001)",
        _independent_binary,
    ),
    (
        "Near a bound, few clusters hold the rarer answer: where one of them is missed "
        "by chance, mean and error both come out too small",
        _few_off_bound,
    ),
    (
        "Skewed unbounded scores in few clusters: the error is small where the mean is "
        "small; up to five have t alone",
        _skewed,
    ),
    ("Other", lambda row: True),
]

_HEAD = """# Calibration

How often the default 95 % interval of `estimate_mean` holds the true mean, and the default tests reject a true null, by
simulation. `make calibrate` writes this page (some minutes, seeded, the same figures every time); a test compares some
cells with a fresh simulation. Unequal clusters, all pairs and missing scores are in
[calibration_unequal.md](calibration_unequal.md). Tests of the matrix (1 000 matrices a row) are in
[methods_matrix.md](methods_matrix.md#how-often-the-tests-err), widths that plans promise (600 estimates a row) in
[methods_subsets.md](methods_subsets.md#does-it-hold).

The data: n prompts, in G clusters of equal size with a given correlation within clusters, or without clusters. *Shares
of right draws* have mean p and K draws per prompt; with K above 1 the prompts of a cluster differ in difficulty (Beta,
concentration 2). Continuous scores are normal, exponential or Beta(½, 2), tied by a Gaussian copula. Samples are drawn
with replacement from a population of up to 200 000 units whose mean is known exactly: 4 000 to 20 000 a cell, more near
a border. Combinations with fewer than two prompts per cluster are left out.

`choose_interval` ([defaults.py](../../warehouse/stats/intervals/defaults.py)) decides method and flags; a flag says
that for such data coverage is not certain:

| flag | raised |
| --- | --- |
| `few_prompts` | 0/1 scores, n up to 100; other bounded scores, n < 30; unbounded, n < 20 |
| `few_informative_prompts` | 0/1 scores: fewer than 10 prompts are off a bound |
| `few_differing_prompts` | two runs differ on fewer than 10 prompts, by weight |
| `skewed` | unbounded: the mean's skewness, of the sample, is above 0.2: t and bootstrap-t differ |
| `few_skewed_prompts` | differences of bounded scores: n < 40 times the squared skewness |
| `heavy_tailed_prompts` | differences of bounded scores: few prompts make up the variance (below) |
| `far_bound` | bounded, t from n = 1 000 on: prompts that n can miss may move the mean (below) |
| `few_clusters` | G < 20 (bounded, not 0/1); unbounded, weighted and paired: 1/Σ f_c² < 20 |
| `weights_concentrated` | weighted: Kish's number of prompts is below 40 or a quarter of n |
| `weights_dominated` | weighted: a unit has a tenth of the weight, and three times its share of prompts |
| `few_informative_clusters` | G < 20 (0/1), or fewer than 11, by weight, are off a bound |
| `few_differing_clusters` | two runs differ on fewer than 10 clusters, by weight |
| `few_skewed_clusters` | G < 40 times the squared skewness of totals (bounded: sizes of CV > 0.5) |
| `heavy_tailed_clusters` | as for prompts, by totals of clusters of about equal size |

Scores without bounds, and their differences, get the *hull* of t and bootstrap-t (999 resamples, from 6 units on),
whatever the flags: a rule on the sample marks the lucky samples and passes those where the large values are missing.
Simulated apart (2 000 samples a cell): lognormal scores in 100 clusters of lognormal sizes .941 (t .907); 10 % of
clusters above 0 .952 (t .761); lognormal σ 1.5, n 500 .946 (t .904); exponential, n 20 .947 (t .912); normal scores
.957 to .960. With 6 to 12 equal clusters .917 to .949 where lognormal (t .865 to .892), .960 to .968 where normal.
With 5 units it is 1.3 to 1.6 times as wide as t, a tenth of the samples above 2.4 to 4; with 4 twice, a tenth above
10: up to 5 have t alone. More than 500 units are put together at random into 500: 3 000 lognormal scores, σ 1.5, are
covered in .945 to .959 with 100, 200, 500, 2 000 or 3 000 groups. The two-sided p is the larger of both; beyond all
resamples the bootstrap's follows Student's tail, widened to meet it at 2.5 %: many tests at once need p below 1/1000.

The skewness of differences is, from 50 units on, the larger of the sample's times 1 + 6/√units and that of the
lognormal distribution with the same quantiles (5, 10, 50, 90, 95 %): where large values are missing by chance, the
sample's own comes out as small as its error. Below n = 50 a skewness above 1 raises `few_skewed_prompts`. *Few make
up the variance*: kurtosis above 6, and (Σ d²)²/Σ d⁴ < 38, or a 15th of the units where that is more, up to 150.
*Prompts that n can miss*: 3.7/n of a population, seen by no prompt in 2.5 % of the samples; if they lay at the
farther bound, the mean would be outside the t interval.

*By weight* is Kish's count: (Σ t)²/Σ t² over the totals t of the units above the lower bound, and below the upper
one, whichever is smaller. Where it is below 20, clustered scores with bounds get `clopper_pearson_effective`:
Clopper–Pearson's interval at an effective number of prompts, with degrees of freedom cut for the kurtosis of the
units. It is wide on purpose: a mean near a bound rests on few units, and so does its error.

"""
_TABLE = """## The whole table

`flagged`: share of samples with a flag; `mc_error`: Monte Carlo standard error of the coverage;
`width`: mean width; `draws` 0: continuous scores. For paired differences the test rejects where the
interval does not cover.

Every cell: [calibration/intervals.csv](calibration/intervals.csv).
"""
