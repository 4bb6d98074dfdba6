"""Scores under a policy: samples without a score that count as wrong, and numbers that
do not count."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.records.policy import Policy
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import listed


@dataclass(frozen=True)
class DrawSums:
    """Draws of prompts as sums, one number for each row of ``prompt_score``."""

    n: NDArray[np.float64]  #: draws with a score.
    total: NDArray[np.float64]  #: sum of their scores.
    squares: NDArray[np.float64]  #: sum of their squares.
    n_scored: NDArray[np.float64]  #: samples with a score.
    n_unscored: NDArray[np.float64]  #: samples without.
    n_filled: NDArray[np.float64]  #: samples that count as wrong.


def under_policy(
    store: Store,
    policy: Policy,
    keys: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    sums: DrawSums,
    metric_ids: Collection[int],
) -> DrawSums:
    """The sums as a policy has them.

    Args:
        keys: run, metric and prompt of each row.
        sums: as they are stored; they are changed in place.
        metric_ids: of the rows.

    Raises:
        MisuseError: a sample counts as wrong by a metric that has no worst score.
    """
    statuses = [*policy.wrong, *policy.dropped]
    if not statuses or not len(keys[0]):
        return sums
    found = store.rows(
        query_text("analysis/selection", "policy_scores"),
        {
            "run_ids": np.unique(keys[0]).tolist(),
            "metric_ids": sorted(metric_ids),
            "statuses": statuses,
        },
        per="run_id",
    )
    named = zip(*(column.tolist() for column in keys), strict=True)
    places = {key: row for row, key in enumerate(named)}
    for row in found:
        at = places.get((row["run_id"], row["metric_id"], row["prompt_id"]))
        if at is None:
            continue
        _without(sums, at, row)
        if row["status"] in policy.dropped:
            sums.n_unscored[at] += row["n_valued"]
            continue
        if row["worst"] is None:
            raise MisuseError(
                f"policy {policy.name}: a metric has no known worst score, so nothing "
                "can count as it; say its bounds and which way it points: warehouse fix "
                "metric"
            )
        _as_wrong(sums, at, row["n"], row["n_valued"], float(row["worst"]))
    return sums


def _without(sums: DrawSums, at: int, row: dict[str, float]) -> None:
    """Take the stored numbers of some draws out of the sums."""
    sums.n[at] -= row["n_valued"]
    sums.total[at] -= row["total"]
    sums.squares[at] -= row["squares"]
    sums.n_scored[at] -= row["n_valued"]


def _as_wrong(sums: DrawSums, at: int, n: int, n_valued: int, worst: float) -> None:
    """Count draws with the worst score, of which some had a number before."""
    sums.n[at] += n
    sums.total[at] += n * worst
    sums.squares[at] += n * worst**2
    sums.n_scored[at] += n
    sums.n_unscored[at] -= n - n_valued
    sums.n_filled[at] += n


def policy_of(text: str | None) -> Policy | None:
    """A policy as a question says it; None for none."""
    return None if text is None else Policy.of(text)


def policy_words(text: str) -> str:
    """What a heading says of a policy; empty for none."""
    return f" · policy {text}" if text else ""


#: Models that a note names.
_MOST_NAMED = 5


def policy_notes(
    policy: Policy | None, counts: Iterable[tuple[str, int, int]]
) -> list[str]:
    """What a policy says, and how many samples it changed.

    Args:
        policy: None, or one that is the usual: nothing is said.
        counts: of each row its name, samples that count as wrong, and all its samples.
    """
    if policy is None or policy.is_usual:
        return []
    said = f"policy {policy.name}: {policy}"
    rows = dict.fromkeys(counts)
    filled = [f"{name} {n:,} of {of:,} samples" for name, n, of in rows if n]
    if not filled:
        return [f"{said}; no sample here is of that kind"]
    named = filled[:_MOST_NAMED]
    if len(filled) > len(named):
        named.append(f"{len(filled) - len(named)} more")
    untouched = len(rows) - len(filled)
    others = ""
    if untouched:
        others = (
            f"; of {untouched} other{'' if untouched == 1 else 's'} no sample has such "
            "a status: a source that stores failures as 0, or leaves them out, does not "
            "say"
        )
    return [f"{said}: {listed(named)}{others}"]
