"""docs/reference/calibration_unequal.md and its table docs/reference/calibration/unequal.csv: written from
the rows of the grid."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from calibration.unequal import DRAWS, MODELS, UnequalRow, by_question

#: What may fail at most where there is no flag.
MOST = 0.06
#: Share of the samples without a flag from which on they count: fewer are the unlucky
#: ones.
SEEN = 0.2
_TITLES = {
    "interval: interval": "Default intervals of one run: share that miss the true mean",
    "paired: t": "Paired t test (CR2, Satterthwaite): share rejected, models equal",
    "equal_models: step_down": (
        f"Step-down max-T, {MODELS} equal models: share with any pair separated"
    ),
    "equal_models: holm": "Holm over the paired t tests, the same samples",
    "equal_models: ranks_own": (
        "A model's own rank set, the same samples: share of models missed"
    ),
    "unequal_models: step_down": (
        "Step-down max-T, models that differ by 0, 0.3 and 0.6 standard deviations: "
        "share with any two equal ones separated"
    ),
    "unequal_models: power_lost": (
        "Power lost, that of Holm less that of step-down max-T, the same samples: mean "
        "share of differing pairs"
    ),
    "unequal_models: simultaneous": (
        "Simultaneous intervals, models that differ by 0, 0.3 and 0.6 standard "
        "deviations: share of samples with any interval beside the truth"
    ),
    "unequal_models: ranks_joint": (
        "Joint rank sets, the same samples: share with any rank missed"
    ),
    "unequal_models: ranks_own": "A model's own rank set: share of models missed",
    "sparse_models: step_down": (
        "Step-down max-T, models nearly always right: share with any two equal ones "
        "separated"
    ),
    "sparse_models: power_lost": (
        "Power lost where models are nearly always right, the same samples"
    ),
    "sparse_models: simultaneous": (
        "Simultaneous intervals where models are nearly always right, the same samples"
    ),
    "sparse_models: ranks_joint": (
        "Joint rank sets where models are nearly always right"
    ),
    "sparse_models: ranks_own": (
        "A model's own rank set where models are nearly always right"
    ),
    "far_models: simultaneous": (
        "Simultaneous intervals, models that differ by 2, 4, ... standard deviations: "
        "share of samples with any interval beside the truth"
    ),
    "missing: default_hull": (
        "Bounds for missing scores, 3 % missing and all of them wrong: share of hulls "
        "that miss the true mean"
    ),
    "missing: imbens_manski": (
        "The same by Imbens and Manski, the named option (always flagged)"
    ),
}
_HEAD = f"""# Calibration with unequal clusters and few prompts

How often something that should fail in at most 5 % of the samples does fail where clusters differ
in size, or prompts are few: default intervals of one run, paired tests, all pairs with max-T (step-down tests),
simultaneous intervals and rank sets, bounds for missing scores.
`python benchmarks/calibrate_unequal.py` runs it again
(about twenty minutes on two cores, seeded) and writes this page. Equal clusters are in
[calibration.md](calibration.md).

Sizes: *equal*, 10 prompts each; *lognormal*, σ = 1.2 about a mean of 10, drawn anew in each sample;
*one_30*, one cluster with 30 % of the prompts; *mmlu*, the 57 subjects of MMLU's test split as they
are (100 to 1 534 prompts); *single*, that number of prompts without clusters. Each cluster has an
effect of its own, for each model, that does not depend on its size; *correlation* is its share of the
variance. max-T takes {DRAWS} draws. *Power lost* below 0 says that its tests find more than Holm's.
*flagged* is the share of samples with a flag; pairs count as flagged below 20 clusters by size, 1/Σ f_c².
Above {100 * MOST:g} % beyond chance: that share of the unflagged samples fails, by more than two Monte
Carlo errors, where at least {100 * SEEN:g} % carry no flag: fewer are the unlucky ones, those that look
harmless by chance.
"""
#: Columns of the table; shares are in percent.
COLUMNS = (
    *("figure", "scores", "p", "correlation", "sizes", "clusters", "samples"),
    *("failed_percent", "unflagged_percent", "flagged_percent"),
)
_TAIL = "\nEvery cell: [calibration/unequal.csv](calibration/unequal.csv).\n"


def write_page(path: Path, rows: Sequence[UnequalRow]) -> None:
    """The whole page."""
    path.write_text(_HEAD + _summary(rows) + _TAIL, encoding="utf-8")
    table = path.parent / "calibration" / "unequal.csv"
    table.parent.mkdir(exist_ok=True)
    with table.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(COLUMNS)
        for name, part in by_question(list(rows)):
            lines.writerows([name, *cells] for cells in _cells(part))


def too_often(row: UnequalRow) -> bool:
    """Whether it fails too often among samples without a flag, beyond chance."""
    free = row.simulations * (1 - row.flagged)
    if free < 1 or row.flagged > 1 - SEEN:
        return False
    return row.unflagged - 2 * (MOST * (1 - MOST) / free) ** 0.5 > MOST


def _summary(rows: Sequence[UnequalRow]) -> str:
    lines = [
        "\n| figure | cells | highest, no flag | above 6 % beyond chance |\n",
        "| --- | ---: | ---: | ---: |\n",
    ]
    for name, part in by_question(list(rows)):
        free = [row for row in part if row.simulations * (1 - row.flagged) >= 100]
        highest = max((row.unflagged for row in free), default=math.nan)
        many = sum(map(too_often, part))
        title = _TITLES[name].partition(":")[0]
        lines.append(f"| {title} | {len(part)} | {_percent(highest)} | {many} |\n")
    return "".join(lines)


def _cells(rows: Sequence[UnequalRow]) -> list[list[str]]:
    lines = []
    for row in rows:
        cell = row.cell
        names = [
            cell.kind,
            f"{cell.rate or ''}",
            f"{cell.correlation:g}",
            cell.sizes,
            f"{cell.clusters}",
        ]
        shares = [_share(row.failed), _share(row.unflagged), f"{100 * row.flagged:.0f}"]
        lines.append([*names, f"{row.simulations}", *shares])
    return lines


def _share(share: float) -> str:
    return _percent(share).removesuffix(" %")


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.1f} %"
