"""Every model on a benchmark or a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

from warehouse.api.connection import Connection, refuse_given
from warehouse.errors import MisuseError

if TYPE_CHECKING:
    from warehouse.analysis.leaderboard.all_boards import Leaderboards
    from warehouse.analysis.leaderboard.leaderboard import Leaderboard
    from warehouse.analysis.suites.leaderboard import SuiteBoard


class LeaderboardMethods(Connection):
    """Rank models."""

    @overload
    def leaderboard(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        level: float = 0.95,
        method: str = "auto",
        cluster: str | None = None,
        latest: bool = False,
        subset_ok: bool = False,
        estimand: str = "prompts_sampled",
        max_unscored: float = 0.05,
        n_resamples: int = 1999,
        seed: int = 0,
    ) -> Leaderboard: ...
    @overload
    def leaderboard(
        self,
        *,
        group: str,
        weights: str | Mapping[str, float] = "equal",
        metric: str | None = None,
        where: Sequence[str] = (),
        level: float = 0.95,
        cluster: str | None = None,
        latest: bool = False,
        partial_ok: bool = False,
        subset_ok: bool = False,
        force: bool = False,
    ) -> SuiteBoard: ...
    @overload
    def leaderboard(
        self,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        level: float = 0.95,
        method: str = "auto",
        cluster: str | None = None,
        latest: bool = False,
        subset_ok: bool = False,
        estimand: str = "prompts_sampled",
        max_unscored: float = 0.05,
        n_resamples: int = 1999,
        seed: int = 0,
    ) -> Leaderboards: ...
    def leaderboard(
        self,
        benchmark: str | None = None,
        *,
        group: str | None = None,
        weights: str | Mapping[str, float] = "equal",
        metric: str | None = None,
        where: Sequence[str] = (),
        level: float = 0.95,
        method: str = "auto",
        cluster: str | None = None,
        latest: bool = False,
        partial_ok: bool = False,
        subset_ok: bool = False,
        force: bool = False,
        estimand: str = "prompts_sampled",
        max_unscored: float = 0.05,
        n_resamples: int = 1999,
        seed: int = 0,
    ) -> Leaderboard | SuiteBoard | Leaderboards:
        """Every model on a benchmark with its interval, or on the benchmarks of a suite; best first.

        A row is one condition, its repeats pooled as draws; on a suite it is one condition of a
        model on each leaf, and its figure the weighted mean of theirs.

        Args:
            benchmark: name of a benchmark or a suite; or
            group: name of a suite, or names of benchmarks with commas between them. Without
                either: every benchmark.
            weights: of a suite's leaves: ``"equal"``, ``"prompts"`` (each prompt weighs the same),
                or a weight by leaf.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            level: nominal coverage of the intervals, in (0, 1).
            method: of a benchmark's intervals, as in :func:`warehouse.stats.estimate_mean`.
            cluster: clustering for the errors: None for the benchmark's default, ``"none"``,
                ``"same_text"``, or a name.
            latest: of each model only the condition that ran last, per split; of a suite the
                newest and most complete set of conditions.
            partial_ok: of a suite: rank rows that lack leaves, by the leaves they have.
            subset_ok: rank runs on a part of the benchmark together with complete ones.
            force: of a suite: mix metrics of different scales, and rows of different judges or
                task versions.
            estimand: of a benchmark: ``"prompts_sampled"``, or ``"prompts_fixed"``: only the draws
                are random (then there are no statistical ranks).
            max_unscored: of a benchmark: share of unscored samples, in [0, 1], above which a row is
                flagged ``many_unscored``.
            n_resamples: of a benchmark: draws behind the rank confidence sets; 0: no sets.
            seed: of these draws.

        Raises:
            MisuseError: both benchmark and group; a keyword of the other kind;
                unknown names; ambiguous conditions; nothing to show.
            StatisticsError: ``level`` or ``method`` that the data do not allow.
        """
        from warehouse.analysis.leaderboard.all_boards import leaderboards
        from warehouse.analysis.leaderboard.leaderboard import leaderboard
        from warehouse.analysis.suites.leaderboard import suite_leaderboard
        from warehouse.analysis.suites.tree import is_suite

        if benchmark is not None and group is not None:
            raise MisuseError("give a benchmark, or the group (suite) to rank on, not both")
        with self.reading() as store:
            suite = group if benchmark is None or not is_suite(store, benchmark) else benchmark
            if suite is not None:
                refuse_given(
                    f"is for benchmarks, and {suite} is a suite (group)",
                    LeaderboardMethods.leaderboard,
                    method=method,
                    estimand=estimand,
                    max_unscored=max_unscored,
                    n_resamples=n_resamples,
                    seed=seed,
                )
                return suite_leaderboard(
                    store,
                    suite,
                    weights=weights,
                    metric=metric,
                    where=where,
                    level=level,
                    cluster=cluster,
                    latest=latest,
                    partial_ok=partial_ok,
                    subset_ok=subset_ok,
                    force=force,
                )
            refuse_given(
                "is for suites: name one",
                LeaderboardMethods.leaderboard,
                weights=weights,
                partial_ok=partial_ok,
                force=force,
            )
            if benchmark is None:
                return leaderboards(
                    store,
                    metric=metric,
                    where=where,
                    level=level,
                    method=method,
                    cluster=cluster,
                    latest=latest,
                    subset_ok=subset_ok,
                    estimand=estimand,
                    max_unscored=max_unscored,
                    n_resamples=n_resamples,
                    seed=seed,
                )
            return leaderboard(
                store,
                benchmark,
                metric=metric,
                where=where,
                level=level,
                method=method,
                cluster=cluster,
                latest=latest,
                subset_ok=subset_ok,
                estimand=estimand,
                max_unscored=max_unscored,
                n_resamples=n_resamples,
                seed=seed,
            )
