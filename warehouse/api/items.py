"""Single prompts, and the matrix of prompts and models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditReport
    from warehouse.analysis.irt.irt import Irt
    from warehouse.analysis.items.answer_grouping import Grouping
    from warehouse.analysis.items.datamap import DataMap
    from warehouse.analysis.items.item_statistics import ItemReport
    from warehouse.analysis.items.pruning import PruningReport, SplitReport
    from warehouse.analysis.matrix.matrix import Matrix
    from warehouse.embeddings import Embedder, Entailment


class ItemMethods(Connection):
    """Map prompts by what models make of them."""

    def items(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        irt: str | None = None,
    ) -> ItemReport:
        """Difficulty and discrimination of every prompt that all models have a score of.

        Args:
            benchmark: its name.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the condition that ran last.
            irt: ``1pl``, ``2pl`` or ``none``; None: 2PL from 20 models on, else 1PL.

        Raises:
            MisuseError: an unknown name or model, or fewer than two models or prompts.
        """
        from warehouse.analysis.items.item_statistics import items

        with self.reading() as store:
            return items(store, benchmark, metric=metric, where=where, latest=latest, irt=irt)

    def item_splits(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        n_splits: int = 20,
        seed: int = 0,
    ) -> SplitReport:
        """Discrimination of prompts on some models against that on others.

        Args:
            benchmark: its name.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the condition that ran last.
            n_splits: random splits, at least 1, beside the one by difficulty.
            seed: of them.

        Raises:
            MisuseError: an unknown name, fewer than six models or two prompts.
        """
        from warehouse.analysis.items.pruning import item_splits

        with self.reading() as store:
            return item_splits(
                store, benchmark, metric=metric, where=where, latest=latest, n_splits=n_splits, seed=seed
            )

    def item_pruning(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        shares: Sequence[float] = (0.0, 0.05, 0.1, 0.15, 0.2),
        n_random: int = 100,
        seed: int = 0,
    ) -> PruningReport:
        """What dropping the least discriminating prompts does to other models, beside random drops.

        Args:
            benchmark: its name.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the condition that ran last.
            shares: of the prompts to drop, each in [0, 1).
            n_random: random drops for each share, at least 1.
            seed: of the random split and drops.

        Raises:
            MisuseError: an unknown name, fewer than six models or two prompts, shares out of range.
        """
        from warehouse.analysis.items.pruning import item_pruning

        with self.reading() as store:
            return item_pruning(
                store, benchmark, metric=metric, where=where, latest=latest, shares=shares, n_random=n_random, seed=seed
            )

    def irt(
        self,
        benchmarks: str | Sequence[str],
        *,
        model: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        fresh: bool = False,
        store_result: bool = True,
    ) -> Irt:
        """An item response model of all models' answers, missing ones allowed.

        It is asked by ``.fit()``, ``.abilities()`` and ``.next_items(model)``; nothing is read before.

        Args:
            benchmarks: names of benchmarks and suites, globs among them.
            model: ``1pl`` or ``2pl``; None: by the number of models and of what links them.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the conditions that ran last.
            cluster: testlets that errors allow for: None for the default clusterings, ``"none"``,
                ``"same_text"``, or a name.
            fresh: compute again what is stored already.
            store_result: False for a trial: what is computed is not stored.

        Raises:
            MisuseError: another model; by its methods: unknown names, models that share no scale.
        """
        from warehouse.analysis.irt.irt import Irt

        return Irt(
            self.opener,
            benchmarks,
            model=model,
            metric=metric,
            where=where,
            latest=latest,
            cluster=cluster,
            fresh=fresh,
            store_result=store_result,
        )

    def audit(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        threshold: float = 0.1,
        strata: str | None = None,
        n_options: int | None = None,
        effect: bool = False,
        against: str | Path | None = None,
        wrong_is: Sequence[str] = (),
        level: float = 0.95,
    ) -> AuditReport:
        """The posterior probability that the recorded key is wrong, for each prompt of a benchmark.

        ``.listed`` are the suspects, ``.plan()`` is the benchmark without them. A clean list proves
        no clean key: only what models agree on is found.

        Args:
            benchmark: name of a benchmark with prompts of its own.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            cluster: clustering that is shown and that the errors of ``effect`` use: None for the
                benchmark's default, ``"none"``, ``"same_text"``, or a name.
            threshold: posterior from which on a key is listed, in (0, 1].
            strata: field of the prompts' documents, subject or source: its values have rates of
                their own.
            n_options: options of a prompt, where the store has letters only; None: as stored.
            effect: also the leaderboard without the listed prompts.
            against: table with a column that names prompts and one of verdicts by people, to score
                the list.
            wrong_is: verdicts in it that mean a wrong key; empty: words such as 1, wrong, true.
            level: nominal coverage of the intervals in ``effect``, in (0, 1).

        Raises:
            MisuseError: unknown names, no keys, fewer than three models with answers, a model twice.
            StatisticsError: a number out of range.
            InputError: a file of verdicts that is none.
        """
        from warehouse.analysis.audit.audit import audit

        with self.reading() as store:
            return audit(
                store,
                benchmark,
                metric=metric,
                where=where,
                cluster=cluster,
                threshold=threshold,
                strata=strata,
                n_options=n_options,
                effect=effect,
                against=against,
                wrong_is=wrong_is,
                level=level,
            )

    def matrix(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        fresh: bool = False,
        store_result: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> Matrix:
        """The performance matrix of a benchmark: prompts × models, complete rows only.

        It is asked by ``.test()``, ``.cluster()``, ``.weights()``, ``.grow()`` and ``.explain()``;
        nothing is read before.

        Args:
            benchmark: name of a benchmark with prompts of its own.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the condition that ran last, per split.
            fresh: compute again what is stored already.
            store_result: False for a trial: what is computed is not stored.
            progress: called with (done, all) while something is computed.

        Raises:
            MisuseError: by its methods: unknown names, or fewer than two models or complete prompts.
        """
        from warehouse.analysis.matrix.matrix import Matrix

        return Matrix(
            self.opener,
            benchmark,
            metric=metric,
            where=where,
            latest=latest,
            fresh=fresh,
            store_result=store_result,
            progress=progress,
        )

    def datamap(
        self,
        reference: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        group: Grouping | None = None,
        embedder: str | Embedder | None = None,
        threshold: float = 0.9,
        entailment: str | Entailment | None = None,
        device: str | None = None,
        correct_at: float | None = None,
        max_p: float = 0.1,
        min_s: float = -0.8,
        level: float = 0.95,
        interval: str = "wilson",
        fresh: bool = False,
        store_result: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> DataMap:
        """P(correct) and S(consistency) of every prompt with several generations.

        Generations are those in headline form, pooled over the repeats of a condition. What a model
        groups is stored, and read back while runs and model stay the same.

        Args:
            reference: ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
            benchmark: name of a benchmark; None for all that the model has.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            group: how generations are put into semantic sets: ``answer`` (the same extracted
                answer), ``text`` (the same normalised response), ``embedding`` (vectors at least
                ``threshold`` similar) or ``entailment`` (each follows from the other). The last two
                compare extracted answers where there are any, else responses. None: by answer, and
                by text where no answers were extracted.
            embedder: for ``embedding``: as :func:`warehouse.embeddings.load_embedder` takes it.
            threshold: for ``embedding``: smallest cosine similarity, in (-1, 1].
            entailment: for ``entailment``: folder of a cross-encoder.
            device: of these models: ``cpu``, ``cuda``, …; None: the fastest there is.
            correct_at: value from which on a generation is correct; None: the metric's best value.
            max_p: largest P(correct) of a suspected label error, in [0, 1].
            min_s: smallest S(consistency) of one, at most 0.
            level: nominal coverage of the intervals of P(correct), in (0, 1).
            interval: ``wilson``, ``jeffreys`` or ``clopper_pearson``.
            fresh: ask the model even where its answer is stored.
            store_result: False for a trial: what the model answers is not stored.
            progress: called with the share that is done, in (0, 1].

        Raises:
            MisuseError: unknown names, no prompt with several generations, a metric without a best
                value, contradictory or missing options.
            InputError: a model that cannot be loaded.
            StatisticsError: ``level`` or ``interval`` that is none.
        """
        from warehouse.analysis.items.datamap import datamap

        return datamap(
            self.opener,
            reference,
            benchmark=benchmark,
            metric=metric,
            where=where,
            group=group,
            embedder=embedder,
            threshold=threshold,
            entailment=entailment,
            device=device,
            correct_at=correct_at,
            max_p=max_p,
            min_s=min_s,
            level=level,
            interval=interval,
            fresh=fresh,
            store_result=store_result,
            progress=progress,
        )
