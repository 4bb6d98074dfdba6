"""Two models, or all pairs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection, refuse_given

if TYPE_CHECKING:
    from warehouse.analysis.comparison.all_pairs import Pairs
    from warehouse.analysis.comparison.compare import Comparison
    from warehouse.analysis.comparison.gate import Gate
    from warehouse.analysis.comparison.unpaired import UnpairedComparison


class ComparisonMethods(Connection):
    """Compare models, pair by pair, and decide whether one may replace another.

    A reference of a model is ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
    """

    def compare(
        self,
        a: str,
        b: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        level: float = 0.95,
        latest: bool = False,
        force: bool = False,
        method: str = "auto",
        estimand: str = "prompts_sampled",
        equivalence: float | None = None,
        flips: int = 0,
        n_resamples: int = 9999,
        seed: int = 0,
    ) -> Comparison:
        """The paired difference of two models, on one benchmark or on all that both have.

        Args:
            a: reference of the first.
            b: reference of the second.
            benchmark: name of a benchmark; None for all.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs of both.
            cluster: clustering for the errors: None for the benchmark's default, ``"none"``,
                ``"same_text"``, or a name.
            level: nominal coverage of the intervals, in (0, 1); tests are at 1 - level.
            latest: where a reference means several conditions, take the one that ran last.
            force: compare what differs in judge, metric scale or task version.
            method: test behind ``p_value``: ``auto`` (t), ``t``, ``permutation``, ``mcnemar``,
                ``wilcoxon``. Where it does not apply, ``p_value`` is None with the reason.
            estimand: ``prompts_sampled``, or ``prompts_fixed`` where only generations are random.
            equivalence: margin of an equivalence test, above 0, in the unit of the metric.
            flips: prompts to list on which they differ most, per benchmark.
            n_resamples: random sign patterns of a permutation test that is not exact.
            seed: of the permutation test, from 0.

        Raises:
            MisuseError: an unknown or ambiguous reference, nothing in common, or runs that should
                not be compared.
            StatisticsError: a number out of range.
        """
        from warehouse.analysis.comparison.compare import compare

        if method != "permutation":
            refuse_given("is for method permutation", ComparisonMethods.compare, n_resamples=n_resamples)
        with self.reading() as store:
            return compare(
                store,
                a,
                b,
                benchmark=benchmark,
                metric=metric,
                where=where,
                cluster=cluster,
                level=level,
                latest=latest,
                force=force,
                method=method,
                estimand=estimand,
                equivalence=equivalence,
                flips=flips,
                n_resamples=n_resamples,
                seed=seed,
            )

    def compare_unpaired(
        self,
        a: str,
        b: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        level: float = 0.95,
        latest: bool = False,
        force: bool = False,
    ) -> UnpairedComparison:
        """The difference of two models that answered different prompts of a benchmark.

        Each model's figure is over its own prompts, and the errors are taken as independent. Where
        prompts are shared the paired comparison is the one to make: it is refused without ``force``.

        Args:
            a: reference of the first.
            b: reference of the second.
            benchmark: name of a benchmark; None for all that both have.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs of both.
            cluster: clustering for the errors, as in :meth:`compare`.
            level: nominal coverage of the intervals, in (0, 1); tests are at 1 - level.
            latest: where a reference means several conditions, take the one that ran last.
            force: compare what shares prompts, or differs in judge, metric scale or task version.

        Raises:
            MisuseError: an unknown or ambiguous reference, no benchmark in common, prompts in
                common, or runs that should not be compared.
            StatisticsError: ``level`` out of range.
        """
        from warehouse.analysis.comparison.unpaired import compare_unpaired

        with self.reading() as store:
            return compare_unpaired(
                store,
                a,
                b,
                benchmark=benchmark,
                metric=metric,
                where=where,
                cluster=cluster,
                level=level,
                latest=latest,
                force=force,
            )

    def pairs(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        level: float = 0.95,
        latest: bool = False,
        subset_ok: bool = False,
        n_resamples: int = 9999,
        seed: int = 0,
        with_flags: bool = True,
    ) -> Pairs:
        """Paired differences of all conditions on a benchmark, adjusted for the number of pairs.

        Conditions are those of the leaderboard, compared within one split, task version, metric
        and judge.

        Args:
            benchmark: name of a benchmark with prompts of its own.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            cluster: clustering for the errors, as in :meth:`compare`.
            level: nominal coverage of the simultaneous intervals, in (0, 1).
            latest: of each model only the condition that ran last, per split.
            subset_ok: compare runs on a part of the benchmark too, on common prompts.
            n_resamples: draws of max-|T|; 0 leaves it out.
            seed: of the draws.
            with_flags: give each pair the flags that :meth:`compare` gives it; takes a while for
                thousands of pairs.

        Raises:
            MisuseError: unknown benchmark, metric, clustering or field; a suite; fewer than two
                conditions that can be compared.
            StatisticsError: ``level``, ``n_resamples`` or ``seed`` out of range.
        """
        from warehouse.analysis.comparison.all_pairs import pairs

        with self.reading() as store:
            return pairs(
                store,
                benchmark,
                metric=metric,
                where=where,
                cluster=cluster,
                level=level,
                latest=latest,
                subset_ok=subset_ok,
                n_resamples=n_resamples,
                seed=seed,
                with_flags=with_flags,
            )

    def gate(
        self,
        candidate: str,
        baseline: str,
        margin: float | None,
        *,
        margins: Mapping[str, float] | None = None,
        benchmarks: Sequence[str] = (),
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        alpha: float = 0.05,
        max_unscored: float = 0.05,
        latest: bool = False,
        force: bool = False,
    ) -> Gate:
        """Whether a candidate may take the place of a baseline.

        On each benchmark the non-inferiority test of the paired differences, adjusted for the
        number of benchmarks (Holm).

        Args:
            candidate: reference of a model.
            baseline: reference of the other.
            margin: loss that is tolerated, from 0, in the unit of the metric; None where each
                benchmark has one of its own.
            margins: such margins, by benchmark.
            benchmarks: names; all that both have, if empty. What is named has to be there.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs of both.
            cluster: clustering for the errors, as in :meth:`compare`.
            alpha: chance of any false pass, and of any false fail, in (0, 0.5).
            max_unscored: share of the candidate's samples without a score, and of the baseline's
                prompts that it lacks, above which a benchmark is undecided, in [0, 1].
            latest: where a reference means several conditions, take the one that ran last.
            force: compare what differs in judge, metric scale or task version.

        Raises:
            MisuseError: an unknown or ambiguous reference, a benchmark that one of them lacks,
                nothing in common, or runs that should not be compared.
            StatisticsError: a number out of range.
        """
        from warehouse.analysis.comparison.gate import gate

        with self.reading() as store:
            return gate(
                store,
                candidate,
                baseline,
                margin,
                margins=margins,
                benchmarks=benchmarks,
                metric=metric,
                where=where,
                cluster=cluster,
                alpha=alpha,
                max_unscored=max_unscored,
                latest=latest,
                force=force,
            )
