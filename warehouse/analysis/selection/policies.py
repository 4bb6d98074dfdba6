"""Scores under a policy: samples without a score that count as wrong, and numbers that
do not count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.records.policy import WRONG, Policy, PolicyRules
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
) -> DrawSums:
    """The sums as a policy has them.

    Args:
        keys: run, metric and prompt of each row.
        sums: as they are stored; they are changed in place.

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
            "metric_ids": np.unique(keys[1]).tolist(),
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
        worst = _worst(policy, row["worst"])
        _as_wrong(sums, at, row["n"], row["n_valued"], worst)
    return sums


def absent_prompts(
    store: Store, runs: Iterable[int], metrics: Iterable[int]
) -> list[dict[str, Any]]:
    """Prompts of declared sets that whole runs have no row of, as ``run_id``,
    ``metric_id``, ``prompt_id`` and ``worst``: the worst score of the metric, or None."""
    params = {"run_ids": sorted(set(runs)), "metric_ids": sorted(set(metrics))}
    if not params["run_ids"] or not params["metric_ids"]:
        return []
    return store.rows(
        query_text("analysis/selection", "absent_prompts"), params, per="run_id"
    )


def absent_as_wrong(
    store: Store, runs: NDArray[np.int64], metrics: NDArray[np.int64]
) -> list[tuple[int, int, int, float]]:
    """Absent prompts that count as wrong, as errors do, with their score: run, metric,
    prompt, worst.

    Args:
        runs: id of the run of each row that is there.
        metrics: id of its metric.

    Raises:
        MisuseError: the metric has no worst score.
    """
    found = []
    for policy, rows in rows_by_policy(store, runs, metrics):
        if policy.statuses["error"] != WRONG:
            continue
        own = {*zip(runs[rows].tolist(), metrics[rows].tolist(), strict=True)}
        for row in absent_prompts(store, *map(set, zip(*own, strict=True))):
            key = (row["run_id"], row["metric_id"])
            if key in own:
                worst = _worst(policy, row["worst"])
                found.append((*key, row["prompt_id"], worst))
    return found


def _worst(policy: Policy, of_metric: float | None) -> float:
    """What a wrong sample scores.

    Raises:
        MisuseError: nobody says.
    """
    worst = policy.wrong_value if of_metric is None else of_metric
    if worst is None:
        raise MisuseError(
            f"policy {policy.name}: a metric has no known worst score, so nothing "
            "can count as it; say its bounds and which way it points: warehouse fix "
            "metric; or what wrong samples score: warehouse fix policy BENCHMARK "
            f"{policy.name} --wrong-value X"
        )
    return float(worst)


def rows_by_policy(
    store: Store, runs: NDArray[np.int64], metrics: NDArray[np.int64]
) -> list[tuple[Policy, NDArray[np.intp]]]:
    """Rows under each policy that changes some; those under none are left out.

    Args:
        runs: id of the run of each row.
        metrics: id of its metric.
    """
    rules = store.policies
    if rules is None or not len(runs):
        return []
    if not rules.stored:
        assert rules.asked is not None
        return [(rules.asked, np.arange(len(runs)))]
    benchmarks = {
        row["run_id"]: row["benchmark_id"]
        for row in store.rows(
            query_text("analysis/selection", "benchmarks_of_runs"),
            {"run_ids": np.unique(runs).tolist()},
            per="run_id",
        )
    }
    places: dict[tuple[str, str], tuple[Policy, list[int]]] = {}
    pairs = zip(runs.tolist(), metrics.tolist(), strict=True)
    for place, (run, metric) in enumerate(pairs):
        policy = rules.of(benchmarks[run], metric)
        if policy is not None:
            key = (policy.name, policy.digest)
            places.setdefault(key, (policy, []))[1].append(place)
    return [(policy, np.array(rows, np.intp)) for policy, rows in places.values()]


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


@dataclass(frozen=True)
class PolicyInForce:
    """What unscored samples count as in one answer."""

    #: None: nobody said anything.
    policy: Policy | None = field(default=None, hash=False)
    #: as headings and results have it; empty where it is the usual one.
    text: str = ""
    origin: str = ""  #: who said it, for a note; empty for the question.

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """What each status counts as; equal where figures may stand side by side."""
        if self.policy is None or self.policy.is_usual:
            return ()
        return tuple(sorted(self.policy.statuses.items()))


def policy_in_force(
    store: Store, read: Iterable[tuple[int, int]], benchmark: str
) -> PolicyInForce:
    """The policy that scores are read under.

    Args:
        read: the benchmarks and metrics, as ids.
        benchmark: their name, for messages.

    Raises:
        MisuseError: there are several.
    """
    rules = store.policies
    if rules is None:
        return PolicyInForce()
    found = dict.fromkeys(_of(rules, *ids) for ids in read)
    return one_policy([(benchmark, policy) for policy in found])


def one_policy(found: Sequence[tuple[str, PolicyInForce]]) -> PolicyInForce:
    """The policy that all parts of an answer are under.

    Args:
        found: of each part its name and its policy.

    Raises:
        MisuseError: there are several; names them.
    """
    by_key = {policy.key: (name, policy) for name, policy in reversed(found)}
    if len(by_key) > 1:
        parts = [
            f"{name} under {policy.text or 'missing'}"
            for name, policy in reversed(by_key.values())
        ]
        raise MisuseError(
            f"never two policies in one answer, and {listed(parts)}: ask of one "
            "benchmark alone, or of all under one: --policy missing"
        )
    every = dict.fromkeys(policy for _, policy in found)
    if len(every) < 2:
        return next(iter(every), PolicyInForce())
    told = max(every, key=lambda policy: NOT_ITS_OWN in policy.text)
    if NOT_ITS_OWN in told.text:
        return told
    return replace(told, origin="that of each of the benchmarks")


def _of(rules: PolicyRules, benchmark_id: int, metric_id: int) -> PolicyInForce:
    policy = rules.of(benchmark_id, metric_id)
    stored = rules.stored.get((benchmark_id, metric_id))
    if policy is None:
        return PolicyInForce()
    if rules.asked is None:
        assert stored is not None
        text = "" if policy.is_usual else policy.name
        return PolicyInForce(
            policy, text, f"that of {stored.benchmark} since {stored.since}"
        )
    if stored is not None and stored.policy.digest != policy.digest:
        return PolicyInForce(
            policy,
            f"{policy.name}, {NOT_ITS_OWN}",
            f"{NOT_ITS_OWN}, which is {stored.policy.name} since {stored.since}",
        )
    return PolicyInForce(policy, policy.name)


#: What is said where one command asks under another policy.
NOT_ITS_OWN = "not the benchmark's policy"


def policy_words(text: str) -> str:
    """What a heading says of a policy; empty for none."""
    return f" · policy {text}" if text else ""


#: Models that a note names.
_MOST_NAMED = 5


def policy_notes(
    in_force: PolicyInForce, counts: Iterable[tuple[str, int, int]]
) -> list[str]:
    """What a policy says, and how many samples it changed.

    Args:
        in_force: the usual: nothing is said of samples.
        counts: of each row its name, samples that count as wrong, and all its samples.
    """
    policy = in_force.policy
    if policy is None:
        return []
    origin = f" ({in_force.origin})" if in_force.origin else ""
    if policy.is_usual:
        return [f"policy {policy.name}{origin}"] if NOT_ITS_OWN in origin else []
    said = f"policy {policy.name}{origin}: {policy}"
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
