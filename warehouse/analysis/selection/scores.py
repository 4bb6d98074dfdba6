"""Prompt means of conditions as arrays, repeats pooled: a draw is run and draw."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.policies import (
    DrawSums,
    absent_as_wrong,
    rows_by_policy,
    under_policy,
)
from warehouse.analysis.selection.prompt_links import Links, align_values, follow_links
from warehouse.analysis.selection.published_figures import PublishedFigure, mean_figure
from warehouse.questions.options import MAX_UNSCORED
from warehouse.records.policy import Policy
from warehouse.records.score_span import ScoreSpan
from warehouse.stats.core.draws import PromptDraws
from warehouse.stats.rows.seed_fit import fit_seeds, whole_seeds
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Columns of ``prompt_scores.sql`` in the order of the fields of ``_Facts``.
_COLUMNS = (
    "value",
    "weight",
    "n_draws",
    "within_variance",
    "is_binary",
    "n_scored",
    "n_unscored",
)


def unscored_flags(
    n_unscored: int, n_samples: int, most: float = MAX_UNSCORED
) -> tuple[str, ...]:
    """``many_unscored`` where a larger share of the samples than ``most`` has no score."""
    if n_unscored > most * n_samples:
        return ("many_unscored",)
    return ()


def _no_prompts() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


def _no_values() -> NDArray[np.float64]:
    return np.empty(0)


@dataclass(frozen=True)
class SeedCells:
    """Scores of several training seeds, or of repeats that count like seeds."""

    labels: tuple[str, ...]  #: of the seeds, S.
    #: mean over draws of each seed on each prompt, NaN where it has none, shape (S, n).
    cells: NDArray[np.float64]
    kind: str = "seeds"  #: ``seeds`` or ``repeats``.

    @property
    def n_seeds(self) -> int:
        """S."""
        return len(self.labels)

    def at(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The cells of some prompts; seeds that have none of them are left out."""
        cells = self.cells[:, rows]
        return cells[np.isfinite(cells).any(axis=1)]


@dataclass(frozen=True)
class PromptScores:
    """Scored prompts of one condition on one metric."""

    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    #: mean over all draws of all repeats, in the metric's per-prompt unit, shape (n,).
    values: NDArray[np.float64]
    #: weight of each prompt in the benchmark's mean, shape (n,).
    weights: NDArray[np.float64]
    n_draws: NDArray[np.float64]  #: generations behind each value, shape (n,).
    #: sample variance over the draws of each prompt, all repeats together, in squared
    #: units of ``values``, shape (n,); NaN with one draw, and where the variance within
    #: a stored mean is unknown. A stored rate counts as so many 0/1 draws.
    within: NDArray[np.float64]
    #: every score behind the value is exactly 0 or 1 (never a stored rate in between),
    #: shape (n,).
    zero_one: NDArray[np.bool_]
    #: ids of all prompts, scored or not, ascending, shape (m,).
    seen: NDArray[np.int64]
    #: samples without a score of each of ``seen``, shape (m,).
    unscored: NDArray[np.float64]
    n_unscored: int  #: samples (prompt and draw) without a score.
    n_samples: int  #: samples in all.
    #: between which values the scores of each repeat lie.
    spans: tuple[ScoreSpan, ...] = ()
    #: of prompts with an infinite score, which ``prompts`` lacks.
    infinite_prompts: NDArray[np.int64] = field(default_factory=_no_prompts)
    #: their means, infinite; NaN where draws are infinite on both sides, shape as of
    #: the ids.
    infinite_values: NDArray[np.float64] = field(default_factory=_no_values)
    #: the scores of each run that was pooled; empty for a single one, and where nobody
    #: asked for them.
    repeats: tuple[PromptScores, ...] = ()
    repeat_runs: tuple[int, ...] = ()  #: ids of these runs, ascending.
    #: of several training seeds; then ``values`` are the parts of the prompts, which no
    #: single seed has.
    seeds: SeedCells | None = None
    #: samples of each of ``seen`` that count as wrong by a policy, among those with a
    #: score, shape (m,); empty where there is no policy.
    filled: NDArray[np.float64] = field(default_factory=_no_values)

    @property
    def n(self) -> int:
        """Scored prompts."""
        return len(self.prompts)

    @property
    def n_filled(self) -> int:
        """Samples that count as wrong by a policy."""
        return int(self.filled.sum())

    @property
    def has_infinite(self) -> bool:
        """True if a score is infinite, so that the mean is."""
        return len(self.infinite_prompts) > 0

    @property
    def extended(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """All prompts with a score, ascending, and their values, infinite ones among
        them."""
        prompts = np.concatenate([self.prompts, self.infinite_prompts])
        order = np.argsort(prompts, kind="stable")
        return prompts[order], np.concatenate([self.values, self.infinite_values])[
            order
        ]

    @property
    def with_infinite(self) -> PromptScores:
        """All scored prompts in one, infinite ones among them: for tests of signs
        alone."""
        prompts, values = self.extended
        kept = ~np.isnan(values)
        prompts = prompts[kept]
        values = values[kept]
        n = len(prompts)
        return replace(
            self,
            prompts=prompts,
            values=values,
            weights=np.ones(n),
            n_draws=np.ones(n),
            within=np.full(n, np.nan),
            zero_one=np.zeros(n, bool),
            seeds=None,
            repeats=(),
        )

    @property
    def uneven_weights(self) -> NDArray[np.float64] | None:
        """The weights, None where all are equal."""
        even = not self.n or self.weights.min() == self.weights.max()
        if even:
            return None
        return self.weights

    def under(self, links: Links) -> PromptScores:
        """These scores with prompts under those that links lead to; of two that are one
        the first."""
        followed = follow_links(self.prompts, links)
        if bool((followed == self.prompts).all()):
            return self
        prompts, rows = np.unique(followed, return_index=True)
        columns = ("values", "weights", "n_draws", "within", "zero_one")
        seeds = None
        if self.seeds is not None:
            seeds = replace(self.seeds, cells=self.seeds.cells[:, rows])
        own = {name: getattr(self, name)[rows] for name in columns}
        if self.has_infinite:
            ids, first = np.unique(
                follow_links(self.infinite_prompts, links), return_index=True
            )
            own |= {
                "infinite_prompts": ids,
                "infinite_values": self.infinite_values[first],
            }
        repeats = tuple(repeat.under(links) for repeat in self.repeats)
        return replace(self, prompts=prompts, seeds=seeds, repeats=repeats, **own)


def over_seeds(
    members: Sequence[PromptScores],
    labels: Sequence[str],
    *,
    kind: str = "seeds",
    all_whole: bool = False,
) -> tuple[PromptScores | None, dict[str, str]]:
    """The scores of one row over seeds, and the seeds that are left out, with how much
    they have.

    Args:
        members: of each seed, with scored prompts.
        labels: of the seeds.
        kind: ``seeds`` or ``repeats``.
        all_whole: no seed is left out for what it lacks.

    Returns:
        None where no seed has a score on .95 of the prompts that some seed has one on.
    """
    as_cells = partial(SeedCells, kind=kind)
    prompts = np.unique(np.concatenate([own.prompts for own in members]))
    cells = _aligned([own.values for own in members], members, prompts)
    is_whole = np.ones(len(members), bool) if all_whole else whole_seeds(cells)
    n_all = len(prompts)
    left_out: dict[str, str] = {}
    for label, own, whole in zip(labels, members, is_whole, strict=True):
        if not whole:
            left_out[label] = f"{own.n:,} of {n_all:,}"
    kept = [own for own, whole in zip(members, is_whole, strict=True) if whole]
    if not kept:
        return None, left_out
    if len(kept) == 1:
        return kept[0], left_out
    there = np.isfinite(cells[is_whole]).any(axis=0)
    cells, prompts = cells[is_whole][:, there], prompts[there]
    weights = np.nanmean(_aligned([own.weights for own in kept], kept, prompts), axis=0)
    draws = np.nansum(_aligned([own.n_draws for own in kept], kept, prompts), axis=0)
    fit = fit_seeds(cells, weights=None if weights.min() == weights.max() else weights)
    seen = np.unique(np.concatenate([own.seen for own in kept]))
    unscored, filled = np.zeros(len(seen)), np.zeros(len(seen))
    for own in kept:
        places = np.searchsorted(seen, own.seen)
        unscored[places] += own.unscored
        if len(own.filled):
            filled[places] += own.filled
    kept_labels = tuple(
        label for label, whole in zip(labels, is_whole, strict=True) if whole
    )
    combined = PromptScores(
        prompts=prompts,
        # where seeds lack prompts, a part may lie beyond every score by what a seed
        # adds
        values=np.clip(fit.prompt_parts, np.nanmin(cells), np.nanmax(cells)),
        weights=weights,
        n_draws=draws,
        within=np.full(len(prompts), np.nan),
        zero_one=np.nanmin(
            _aligned([own.zero_one.astype(np.float64) for own in kept], kept, prompts),
            axis=0,
        )
        > 0,
        seen=seen,
        unscored=unscored,
        n_unscored=sum(own.n_unscored for own in kept),
        filled=filled,
        n_samples=sum(own.n_samples for own in kept),
        spans=tuple(chain.from_iterable(own.spans for own in kept)),
        seeds=as_cells(kept_labels, cells),
    )
    return combined, left_out


def _aligned(
    columns: Sequence[NDArray[np.float64]],
    members: Sequence[PromptScores],
    prompts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Columns of several scores on the same prompts, NaN where one has none, shape (S,
    n)."""
    return np.array(
        [
            align_values(own.prompts, column, prompts)
            for column, own in zip(columns, members, strict=True)
        ]
    )


def _spans(
    values: NDArray[np.float64], run_ids: NDArray[np.int64]
) -> Iterator[ScoreSpan]:
    """The span of each run that has values, of which NaN is none."""
    if run_ids[0] != run_ids[-1]:
        parts = np.split(values, np.flatnonzero(np.diff(run_ids)) + 1)
    else:
        parts = [values]
    for own in parts:
        low = float(np.fmin.reduce(own))
        high = float(np.fmax.reduce(own))
        if low <= high:
            yield ScoreSpan(
                low,
                high,
                *(
                    int(np.count_nonzero((own > 0) & (own <= most)))
                    for most in (np.inf, 1)
                ),
            )


@dataclass(frozen=True)
class _Facts:
    """Rows of ``prompt_score`` as columns; ``values`` is NaN where nothing was scored,
    ``within`` where no variance between draws is known; ``n_above`` and ``n_below``
    count draws that are infinite, which ``n_scored`` holds."""

    prompts: NDArray[np.int64]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_draws: NDArray[np.float64]
    within: NDArray[np.float64]
    zero_one: NDArray[np.float64]
    n_scored: NDArray[np.float64]
    n_unscored: NDArray[np.float64]
    n_above: NDArray[np.float64]
    n_below: NDArray[np.float64]
    n_filled: NDArray[np.float64]

    def take(self, rows: NDArray[np.intp] | slice) -> _Facts:
        chosen = _as_slice(rows)  # views where rows stand together, as they mostly do
        return _Facts(
            *(getattr(self, name)[chosen] for name in self.__dataclass_fields__)
        )


def _as_slice(rows: NDArray[np.intp] | slice) -> NDArray[np.intp] | slice:
    """Rows that follow one another as a slice."""
    if isinstance(rows, slice) or not len(rows) or not bool((np.diff(rows) == 1).all()):
        return rows
    return slice(int(rows[0]), int(rows[-1]) + 1)


def _ascends(values: NDArray[np.int64]) -> bool:
    """No value is below the one before it."""
    return bool((values[1:] >= values[:-1]).all())


def read_scores(
    store: Store,
    runs: Mapping[int, int],
    metric_ids: Collection[int],
    *,
    links: Links | None = None,
    with_repeats: bool = False,
) -> dict[int, PromptScores]:
    """Prompt scores by group, read in one query.

    Args:
        runs: run id -> number of the group that it belongs to; the runs of a group are
            pooled.
        metric_ids: of one metric (several where judges differ between runs).
        links: put prompts under those that these lead to.
        with_repeats: also the scores of each run of a group that has several.

    Returns:
        one entry for each group that has rows.
    """
    rows = _Rows(store, runs, metric_ids)
    return _pooled(rows.runs, rows.facts, runs, links, with_repeats=with_repeats)


class _Rows:
    """Rows of ``prompt_score`` by run."""

    def __init__(
        self, store: Store, runs: Collection[int], metric_ids: Collection[int]
    ) -> None:
        params = {"run_ids": list(runs), "metric_ids": list(metric_ids)}
        columns = store.columns(
            query_text("analysis", "prompt_scores"), params, per="run_id"
        )
        unordered = columns.whole_numbers("run_id")
        order = (
            slice(None) if _ascends(unordered) else np.argsort(unordered, kind="stable")
        )
        numbers = [columns.numbers(name) for name in _COLUMNS]
        facts = _Facts(
            columns.whole_numbers("prompt_id"),
            *numbers,
            *([np.zeros(len(unordered))] * 3),
        )
        self.runs, self.metrics = (
            unordered[order],
            columns.whole_numbers("metric_id")[order],
        )
        stored = facts.take(order)
        if store.policies is not None:
            stored = _under_rules(store, self.runs, self.metrics, stored)
            self.runs, self.metrics, stored = _with_absent(
                store, self.runs, self.metrics, stored
            )
        self.facts = _with_infinite(store, self.runs, self.metrics, stored, metric_ids)


def _under_rules(
    store: Store,
    runs: NDArray[np.int64],
    metrics: NDArray[np.int64],
    facts: _Facts,
) -> _Facts:
    """Facts with what the policies of their benchmarks and metrics say."""
    for policy, rows in rows_by_policy(store, runs, metrics):
        own = _under_policy(
            store, policy, (runs[rows], metrics[rows]), facts.take(rows)
        )
        changed = {}
        for name in facts.__dataclass_fields__:
            column = getattr(facts, name).copy()
            column[rows] = getattr(own, name)
            changed[name] = column
        facts = _Facts(**changed)
    return facts


def _with_absent(
    store: Store, runs: NDArray[np.int64], metrics: NDArray[np.int64], facts: _Facts
) -> tuple[NDArray[np.int64], NDArray[np.int64], _Facts]:
    """Rows with those of prompts that were to be asked and have none, where a policy
    counts them as wrong: one sample each, of the worst score."""
    absent = absent_as_wrong(store, runs, metrics)
    if not absent:
        return runs, metrics, facts
    of_run, of_metric, prompts, worst = zip(*absent, strict=True)
    n = len(absent)
    ones, none = np.ones(n), np.zeros(n)
    values = np.array(worst, np.float64)
    added = _Facts(
        prompts=np.array(prompts, np.int64),
        values=values,
        weights=ones,
        n_draws=ones,
        within=np.full(n, np.nan),
        zero_one=np.isin(values, (0.0, 1.0)).astype(np.float64),
        n_scored=ones,
        n_unscored=none,
        n_above=none,
        n_below=none,
        n_filled=ones,
    )
    joined = {}
    for name in facts.__dataclass_fields__:
        joined[name] = np.concatenate([getattr(facts, name), getattr(added, name)])
    all_runs = np.concatenate([runs, np.array(of_run, np.int64)])
    all_metrics = np.concatenate([metrics, np.array(of_metric, np.int64)])
    order = np.lexsort((joined["prompts"], all_metrics, all_runs))
    return all_runs[order], all_metrics[order], _Facts(**joined).take(order)


def _under_policy(
    store: Store,
    policy: Policy,
    keys: tuple[NDArray[np.int64], NDArray[np.int64]],
    facts: _Facts,
) -> _Facts:
    """Facts with what a policy says that unscored samples count as."""
    is_scored = np.isfinite(facts.values)
    n = np.where(is_scored, facts.n_draws, 0.0)
    mean = np.where(is_scored, facts.values, 0.0)
    within = np.where(np.isfinite(facts.within), facts.within, 0.0)
    sums = under_policy(
        store,
        policy,
        (*keys, facts.prompts),
        DrawSums(
            n=n.copy(),
            total=n * mean,
            squares=np.maximum(n - 1, 0.0) * within + n * mean**2,
            n_scored=facts.n_scored.copy(),
            n_unscored=facts.n_unscored.copy(),
            n_filled=np.zeros(len(n)),
        ),
    )
    changed = (sums.n != n) | (sums.n_filled > 0)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0/0: nothing counts, NaN
        means = sums.total / sums.n
        spread = np.maximum(sums.squares - sums.n * means**2, 0.0) / (sums.n - 1)
    are_unknown = (n > 1) & ~np.isfinite(facts.within)
    spread = np.where((sums.n > 1) & ~are_unknown, spread, np.nan)
    are_ends = np.isin(means, (0.0, 1.0)) | (is_scored & (facts.zero_one > 0))
    return replace(
        facts,
        values=np.where(changed, means, facts.values),
        n_draws=np.where(changed, sums.n, facts.n_draws),
        within=np.where(changed, spread, facts.within),
        zero_one=np.where(changed, are_ends, facts.zero_one),
        n_scored=sums.n_scored,
        n_unscored=sums.n_unscored,
        n_filled=sums.n_filled,
    )


def _with_infinite(
    store: Store,
    runs: NDArray[np.int64],
    metrics: NDArray[np.int64],
    facts: _Facts,
    metric_ids: Collection[int],
) -> _Facts:
    """Facts with the infinite scores, which stand among the unscored: only runs that
    have such are asked for."""
    lacking = np.flatnonzero(facts.n_unscored > 0)
    if not len(lacking):
        return facts
    params = {
        "run_ids": np.unique(runs[lacking]).tolist(),
        "metric_ids": list(metric_ids),
    }
    columns = store.columns(
        query_text("analysis/selection", "infinite_scores"), params, per="run_id"
    )
    found = (
        columns.whole_numbers("run_id"),
        columns.whole_numbers("metric_id"),
        columns.whole_numbers("prompt_id"),
    )
    if not len(found[0]):
        return facts
    places = {
        key: row
        for row, key in zip(
            lacking.tolist(),
            zip(
                runs[lacking].tolist(),
                metrics[lacking].tolist(),
                facts.prompts[lacking].tolist(),
                strict=True,
            ),
            strict=True,
        )
    }
    above, below = np.zeros(len(runs)), np.zeros(len(runs))
    counts = columns.numbers("n_above").tolist(), columns.numbers("n_below").tolist()
    for *key, n_above, n_below in zip(
        *(column.tolist() for column in found), *counts, strict=True
    ):
        row = places.get(tuple(key))
        if row is not None:
            above[row], below[row] = n_above, n_below
    both = above + below
    return replace(
        facts,
        n_scored=facts.n_scored + both,
        n_unscored=facts.n_unscored - both,
        n_above=above,
        n_below=below,
    )


def _pooled(
    run_ids: NDArray[np.int64],
    facts: _Facts,
    runs: Mapping[int, int],
    links: Links | None = None,
    *,
    with_repeats: bool = False,
) -> dict[int, PromptScores]:
    """Facts by group, the run of each ascending."""
    if links is not None:
        facts = replace(facts, prompts=follow_links(facts.prompts, links))
    groups = _mapped(run_ids, runs)
    if not _ascends(groups):
        order = np.argsort(groups, kind="stable")
        groups = groups[order]
        facts = facts.take(order)
        run_ids = run_ids[order]
    starts = np.flatnonzero(np.diff(groups, prepend=-1)).tolist()
    return {
        int(groups[a]): _pool(
            facts.take(slice(a, b)), run_ids[a:b], with_repeats=with_repeats
        )
        for a, b in pairwise([*starts, len(groups)])
    }


def _mapped(run_ids: NDArray[np.int64], runs: Mapping[int, int]) -> NDArray[np.int64]:
    keys = np.array(sorted(runs), dtype=np.int64)
    groups = np.array([runs[int(key)] for key in keys], dtype=np.int64)
    return groups[np.searchsorted(keys, run_ids)]


def _pool(
    facts: _Facts, run_ids: NDArray[np.int64], *, with_repeats: bool = False
) -> PromptScores:
    """One row per prompt: values by weight and draws, weights by draws, as the loader
    pools."""
    if with_repeats and len(run_ids) and run_ids[0] != run_ids[-1]:
        changes = np.flatnonzero(np.diff(run_ids)) + 1
        ends = [0, *changes.tolist(), len(run_ids)]
        by_run = {
            int(run_ids[a]): _pool(facts.take(slice(a, b)), run_ids[a:b])
            for a, b in pairwise(ends)
        }
        repeats = {run: own for run, own in by_run.items() if own.n}
        if len(repeats) > 1:
            pooled = _pool(facts, run_ids)
            return replace(
                pooled, repeats=tuple(repeats.values()), repeat_runs=tuple(repeats)
            )
    prompts, sorted_facts = facts.prompts, facts
    if not bool((prompts[1:] > prompts[:-1]).all()):
        sorted_facts = facts.take(np.argsort(prompts, kind="stable"))
        prompts, codes = np.unique(sorted_facts.prompts, return_inverse=True)
        if len(prompts) < len(codes):
            sorted_facts = _merge(sorted_facts, prompts, codes)
    infinite = sorted_facts.n_above + sorted_facts.n_below > 0
    scored = np.flatnonzero(np.isfinite(sorted_facts.values) & ~infinite)
    kept = sorted_facts.take(scored)
    means = np.where(sorted_facts.n_above > 0, np.inf, -np.inf)
    means = np.where(
        (sorted_facts.n_above > 0) & (sorted_facts.n_below > 0), np.nan, means
    )
    return PromptScores(
        prompts=kept.prompts,
        values=kept.values,
        weights=kept.weights,
        n_draws=kept.n_draws,
        within=np.where(kept.n_draws > 1, kept.within, np.nan),
        zero_one=kept.zero_one > 0,
        seen=prompts,
        unscored=sorted_facts.n_unscored,
        n_unscored=int(facts.n_unscored.sum()),
        filled=sorted_facts.n_filled,
        n_samples=int((facts.n_scored + facts.n_unscored).sum()),
        spans=tuple(_spans(facts.values, run_ids)),
        infinite_prompts=prompts[infinite],
        infinite_values=means[infinite],
    )


def _merge(
    facts: _Facts, prompts: NDArray[np.int64], codes: NDArray[np.intp]
) -> _Facts:
    def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(codes, weights=values, minlength=len(prompts)).astype(
            np.float64
        )

    scored = np.isfinite(facts.values)
    draws = np.where(scored, facts.n_draws, 0.0)
    value = np.where(scored, facts.values, 0.0)
    total = summed(draws)
    mass = summed(draws * facts.weights)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0/0: nothing scored, NaN
        values = summed(draws * facts.weights * value) / mass
        weights = mass / total
        centred = value - (summed(draws * value) / total)[codes]
        # one draw has none
        inner = np.where(draws > 1, (draws - 1) * facts.within, 0.0)
        squares = inner + np.where(scored, draws * centred**2, 0.0)
        within = summed(squares) / (total - 1)
    zero_one = np.where(summed(scored * (1 - facts.zero_one)) > 0, 0.0, 1.0)
    counts = (
        *(facts.n_scored, facts.n_unscored, facts.n_above, facts.n_below),
        facts.n_filled,
    )
    return _Facts(
        prompts, values, weights, total, within, zero_one, *map(summed, counts)
    )


# A rate is a whole number of right draws if it is that near to one: where the metric is
# declared 0/1, sources may round it; where it is not, only floating-point rounding is
# allowed for.
_ROUNDED, _EXACT = 0.05, 1e-6


def right_draws(
    scores: PromptScores, metric: Metric
) -> tuple[NDArray[np.float64], str]:
    """Right draws of each prompt, shape (n,), and why there are none (then they are
    zeros)."""
    counts = scores.values * scores.n_draws
    whole = np.round(counts)
    room = _EXACT
    if metric.kind == "binary":
        room = _ROUNDED
    if metric.link != "identity":
        return np.zeros_like(counts), "the metric is no share of right draws"
    wrong = (np.abs(counts - whole) > room) | (whole < 0) | (whole > scores.n_draws)
    if wrong.any():
        index = int(np.argmax(wrong))
        return np.zeros_like(counts), (
            f"draws must be right or wrong: {int(wrong.sum())} of {scores.n} prompts "
            f"have another mean (such as {scores.values[index]:.4g} of "
            f"{scores.n_draws[index]:g} draws)"
        )
    if not draws_declared(scores, metric):
        within = np.where(scores.n_draws > 1, scores.within, np.nan)
        if not PromptDraws(scores.values, within, scores.n_draws).are_zero_one():
            return np.zeros_like(
                counts
            ), "draws must be right or wrong: some lie in between"
    return whole, ""


def draws_declared(scores: PromptScores, metric: Metric) -> bool:
    """True if draws are known to be 0 or 1: by the metric, or each was seen."""
    return metric.kind == "binary" or bool(scores.zero_one.all())


#: Scores from which on two values are no accident.
ENOUGH = 20


class RunFigures:
    """All figures of some runs by some metrics, by group.

    Args:
        runs: run id -> number of the group that it belongs to; the runs of a group are
            pooled.
    """

    def __init__(
        self, store: Store, runs: Mapping[int, int], metric_ids: Collection[int]
    ) -> None:
        self._runs, self._rows = runs, _Rows(store, runs, metric_ids)
        self._published = store.rows(
            query_text("analysis", "published_means"),
            {"run_ids": list(runs)},
            per="run_id",
        )

    def scores(
        self, metric_id: int, *, with_repeats: bool = False
    ) -> dict[int, PromptScores]:
        """Prompt scores by one metric, of each group that has rows."""
        here = np.flatnonzero(self._rows.metrics == metric_id)
        return _pooled(
            self._rows.runs[here],
            self._rows.facts.take(here),
            self._runs,
            with_repeats=with_repeats,
        )

    def published(self, metric_id: int) -> dict[int, PublishedFigure]:
        """Published figures by one metric."""
        first: dict[int, PublishedFigure] = {}
        for row in self._published:
            if row["metric_id"] == metric_id:
                first.setdefault(
                    row["run_id"],
                    PublishedFigure(row["value"], row["standard_error"], row["n"] or 0),
                )
        groups: dict[int, list[PublishedFigure]] = {}
        for run, figure in first.items():
            groups.setdefault(self._runs[run], []).append(figure)
        return {group: mean_figure(own) for group, own in groups.items()}
