"""The face for notebooks and scripts: one object per store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.open import DEFAULT_URL, is_made, open_store
from warehouse.store.opener import StoreOpener

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import pyarrow as pa

    from warehouse.analysis.comparison.all_pairs import Pairs
    from warehouse.analysis.comparison.compare import Comparison
    from warehouse.analysis.comparison.gate import Gate
    from warehouse.analysis.comparison.unpaired import UnpairedComparison
    from warehouse.analysis.families.family import Family
    from warehouse.analysis.items.datamap import DataMap
    from warehouse.analysis.leaderboard.leaderboard import Leaderboard
    from warehouse.analysis.matrix.matrix import Matrix
    from warehouse.analysis.power.power import PowerPlan
    from warehouse.analysis.suites.leaderboard import SuiteBoard
    from warehouse.analysis.text.duplicates import Duplicates
    from warehouse.analysis.text.embed import Embedding
    from warehouse.analysis.text.semantic_clusters import SemanticClusters
    from warehouse.analysis.text.similar import Similar
    from warehouse.analysis.variance.pass_rates import PassReport
    from warehouse.analysis.variance.seeds import SeedReport
    from warehouse.analysis.variance.variance import VarianceReport
    from warehouse.embeddings import Embedder
    from warehouse.ingest.pipeline import IngestReport
    from warehouse.interchange.every_eval_ever import EveryEvalEverReport
    from warehouse.refresh.history import History
    from warehouse.refresh.results import Refreshed
    from warehouse.report.page import Written
    from warehouse.stats import VarianceParts
    from warehouse.store.load.state import LoadOptions
    from warehouse.store.snapshot import Published


def connect(url: str | Path | None = None, *, create: bool = True, wait: float = 10.0, reader: str = "") -> Warehouse:
    """A warehouse at a URL.

    Args:
        url: ``duckdb:///file``, a bare file name, or ``postgresql://…``; default
            ``duckdb:///warehouse.duckdb``.
        create: make the store if there is none.
        wait: seconds to wait for a store that another process holds.
        reader: role, or whole URL, that :meth:`Warehouse.arrow` and :meth:`Warehouse.query` run
            as on a server; default: that of ``url``, unless it has powers beyond reading.

    Raises:
        StoreError: the store cannot be opened.
        SchemaVersionError: the store's schema is not the one of this program.
    """
    warehouse = Warehouse(url, wait=wait, reader=reader)
    if create and not is_made(warehouse.url, wait=wait):
        open_store(warehouse.url, create=True, wait=wait).close()
    with warehouse.reading():
        return warehouse


class Warehouse:
    """A store and what can be asked of it.

    Every call opens the store for as long as it takes and lets go of it, so that a notebook does
    not keep others from writing.
    """

    def __init__(self, url: str | Path | None = None, *, wait: float = 10.0, reader: str = "") -> None:
        self.url, self.wait = None if url is None else str(url), wait
        self.reader = reader

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """The store, open for reading."""
        with open_store(self.url, wait=self.wait) as store:
            yield store

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """The store, open for writing."""
        with open_store(self.url, write=True, wait=self.wait) as store:
            yield store

    @property
    def opener(self) -> StoreOpener:
        """How to open the store: for what lets go of it while it works."""
        return StoreOpener(self.reading, self.writing)

    def ingest(
        self,
        *paths: str | Path,
        format: str | None = None,
        values: Mapping[str, Any] | None = None,
        mapping: str | Path | None = None,
        higher_is_better: bool | None = None,
        options: LoadOptions | None = None,
        defaults: Mapping[str, Any] | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> IngestReport:
        """Load dumps; see :func:`warehouse.ingest.pipeline.ingest`.

        Raises:
            MisuseError: a path that does not exist, an unknown format, or a value of ``model``
                that would rename several models.
        """
        from warehouse.ingest.pipeline import ingest

        with self.writing() as store:
            return ingest(
                store,
                paths,
                format=format,
                values=values,
                mapping=mapping,
                higher_is_better=higher_is_better,
                options=options,
                defaults=defaults,
                force=force,
                dry_run=dry_run,
            )

    def publish(self, path: str | Path) -> Published:
        """Write a read-only copy of the store, or replace an earlier one atomically; see
        :func:`warehouse.store.snapshot.publish`.

        Raises:
            MisuseError: the store is on a server, or ``path`` holds something else.
        """
        from warehouse.store.snapshot import publish

        return publish(self.url, path, wait=self.wait)

    def export_every_eval_ever(
        self, folder: str | Path, *, overwrite: bool = False, now: float | None = None
    ) -> EveryEvalEverReport:
        """Write the current runs as Every Eval Ever; see :mod:`warehouse.interchange`.

        Args:
            folder: where to; must not exist or be empty.
            overwrite: replace an earlier export that lies there.
            now: time that the files carry, in Unix seconds; default: the clock's.

        Raises:
            MisuseError: the folder holds something already, or there is no run to write.
        """
        import time

        from warehouse.interchange.every_eval_ever import export

        moment = time.time() if now is None else now
        with self.reading() as store:
            return export(store, Path(folder), now=moment, overwrite=overwrite)

    def arrow(self, query: str, **parameters: Any) -> pa.Table:
        """Result of a view, a library query (by name) or one SELECT, as Arrow.

        Runs on a connection that can neither write nor reach files or the network.

        Raises:
            MisuseError: an unknown name, a missing parameter, or a statement that is no SELECT.
        """
        from warehouse.store.sql.run_query import is_name, run_query

        with open_store(self.url, guarded=True, typed=not is_name(query), reader=self.reader, wait=self.wait) as store:
            return run_query(store, query, parameters)

    def query(self, query: str, **parameters: Any) -> pd.DataFrame:
        """As :meth:`arrow`, as a pandas frame."""
        return self.arrow(query, **parameters).to_pandas()

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
        subset_ok: bool = False,
        partial_ok: bool = False,
        force: bool = False,
    ) -> SuiteBoard: ...
    def leaderboard(
        self, benchmark: str | None = None, *, group: str | None = None, **options: Any
    ) -> Leaderboard | SuiteBoard:
        """Every model on a benchmark with its interval, or on the benchmarks of a suite.

        See :func:`warehouse.analysis.leaderboard.leaderboard.leaderboard`, and for ``group``
        :func:`warehouse.analysis.suites.leaderboard.suite_leaderboard`.

        Raises:
            MisuseError: both or neither of benchmark and group; what they do not allow.
        """
        from warehouse.analysis.leaderboard.leaderboard import leaderboard
        from warehouse.analysis.suites.leaderboard import suite_leaderboard

        if (benchmark is None) == (group is None):
            raise MisuseError("give a benchmark, or the group (suite) to rank on")
        with self.reading() as store:
            if group is not None:
                return suite_leaderboard(store, group, **options)
            return leaderboard(store, str(benchmark), **options)

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
        """Paired comparison of two models; see :mod:`warehouse.analysis.comparison.compare`."""
        from warehouse.analysis.comparison.compare import compare

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
        """Comparison of two models that share no prompts; see
        :func:`warehouse.analysis.comparison.unpaired.compare_unpaired`."""
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
    ) -> Pairs:
        """All pairs of the models on a benchmark, adjusted for their number; see
        :func:`warehouse.analysis.comparison.all_pairs.pairs`."""
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
            )

    def variance(
        self,
        target: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
    ) -> VarianceReport:
        """Variance of runs, split between prompts and draws; see
        :func:`warehouse.analysis.variance.variance.variance`."""
        from warehouse.analysis.variance.variance import variance

        with self.reading() as store:
            return variance(store, target, benchmark=benchmark, metric=metric, where=where, cluster=cluster)

    def pass_rates(
        self,
        target: str,
        *,
        at: Sequence[int] = (),
        hat: Sequence[int] = (),
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        estimand: str = "prompts_sampled",
        level: float = 0.95,
    ) -> PassReport:
        """pass@k and pass^k of runs; see :mod:`warehouse.analysis.variance.pass_rates`."""
        from warehouse.analysis.variance.pass_rates import pass_rates

        with self.reading() as store:
            return pass_rates(
                store,
                target,
                at=at,
                hat=hat,
                benchmark=benchmark,
                metric=metric,
                where=where,
                cluster=cluster,
                estimand=estimand,
                level=level,
            )

    def seed_variance(
        self, target: str, *, benchmark: str | None = None, metric: str | None = None, where: Sequence[str] = ()
    ) -> SeedReport:
        """Training seeds crossed with prompts; see
        :func:`warehouse.analysis.variance.seeds.seed_variance`."""
        from warehouse.analysis.variance.seeds import seed_variance

        with self.reading() as store:
            return seed_variance(store, target, benchmark=benchmark, metric=metric, where=where)

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
        """The performance matrix of a benchmark: ``.test()``, ``.cluster()``, ``.weights()``,
        ``.grow()``, ``.explain()``; see :class:`warehouse.analysis.matrix.matrix.Matrix`."""
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

    def power(
        self,
        *references: str,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        latest: bool = False,
        correlation: float | None = None,
        parts: VarianceParts | None = None,
        **question: Any,
    ) -> PowerPlan:
        """Plan a comparison from one or two stored runs, or from variances.

        Args:
            references: of the runs; see :func:`warehouse.analysis.power.pilot.read_pilot`.
            parts: variances, instead of references.
            question: fields of :class:`warehouse.analysis.power.question.Question`: ``delta``, …

        Raises:
            MisuseError: both or neither of references and variances; what they do not allow.
        """
        from warehouse.analysis.power.pilot import read_pilot
        from warehouse.analysis.power.power import plan_power
        from warehouse.analysis.power.question import Question

        if (parts is None) == (not references):
            raise MisuseError("plan from stored runs or from variances: give one of them")
        if parts is not None:
            return plan_power(Question(**question), parts)
        with self.reading() as store:
            pilot = read_pilot(
                store,
                references,
                benchmark=benchmark,
                metric=metric,
                where=where,
                cluster=cluster,
                latest=latest,
                correlation=correlation,
            )
        return plan_power(Question(**question), pilot)

    def show(self, run: str | int, prompt: str | int | None = None) -> Any:
        """A run, or one prompt of it with every response and score."""
        from warehouse.analysis.items.show import show

        with self.reading() as store:
            return show(store, str(run), None if prompt is None else str(prompt))

    def embed(
        self, *benchmarks: str, embedder: str | Embedder, device: str | None = None, batch_size: int = 32
    ) -> Embedding:
        """Vectors for new or changed text; see :func:`warehouse.analysis.text.embed.embed`."""
        from warehouse.analysis.text.embed import embed

        return embed(self.opener, [embedder], benchmarks=benchmarks, device=device, batch_size=batch_size)

    def similar(
        self, wanted: str | int, *, benchmark: str | None = None, top: int = 10, embedder: str | Embedder | None = None
    ) -> Similar:
        """The prompts nearest to a prompt (its id) or a text; see
        :func:`warehouse.analysis.text.similar.similar`."""
        from warehouse.analysis.text.similar import similar

        name = f"prompt:{wanted}" if isinstance(wanted, int) else wanted
        with self.reading() as store:
            return similar(store, name, benchmark=benchmark, top=top, embedder=embedder)

    def duplicates(
        self,
        *benchmarks: str,
        threshold: float = 0.95,
        embedder: str | None = None,
        keep: int = 10_000,
        fresh: bool = False,
        store_result: bool = True,
    ) -> Duplicates:
        """Near-duplicates within and across benchmarks; see
        :func:`warehouse.analysis.text.duplicates.duplicates`."""
        from warehouse.analysis.text.duplicates import duplicates

        return duplicates(
            self.opener,
            benchmarks,
            threshold=threshold,
            embedder=embedder,
            keep=keep,
            fresh=fresh,
            store_result=store_result,
        )

    def cluster_semantic(
        self,
        benchmark: str,
        *,
        threshold: float = 0.8,
        embedder: str | None = None,
        name: str = "semantic",
        default: bool = False,
        replace: bool = False,
        store_result: bool = True,
    ) -> SemanticClusters:
        """Store clusters of prompts that ask nearly the same; see
        :func:`warehouse.analysis.text.semantic_clusters.cluster_semantic`."""
        from warehouse.analysis.text.semantic_clusters import cluster_semantic

        with self.writing() if store_result else self.reading() as store:
            return cluster_semantic(
                store,
                benchmark,
                threshold=threshold,
                embedder=embedder,
                name=name,
                default=default,
                replace=replace,
                store_result=store_result,
            )

    def datamap(self, reference: str, **options: Any) -> DataMap:
        """P(correct) against S(consistency) of prompts with several generations; options as in
        :func:`warehouse.analysis.items.datamap.datamap`."""
        from warehouse.analysis.items.datamap import datamap

        return datamap(self.opener, reference, **options)

    def gate(self, candidate: str, baseline: str, margin: float, **options: Any) -> Gate:
        """Whether a candidate may take the place of a baseline; options as in
        :func:`warehouse.analysis.comparison.gate.gate`."""
        from warehouse.analysis.comparison.gate import gate

        with self.reading() as store:
            return gate(store, candidate, baseline, margin, **options)

    def refresh(
        self,
        *benchmarks: str,
        families: Sequence[str | Family] = (),
        baselines: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
        **settings: Any,
    ) -> Refreshed:
        """Recompute stored figures that are out of date; see
        :func:`warehouse.refresh.run.refresh`, and for ``level``, ``permutations``,
        ``n_resamples`` and ``seed`` :class:`warehouse.analysis.families.family.Settings`."""
        from warehouse.analysis.families.family import Settings
        from warehouse.refresh.run import Work, refresh

        work = Work(tuple(families), benchmarks, Settings(baselines=tuple(baselines), **settings))
        return refresh(self.opener, work, wait=self.wait, progress=progress)

    def history(
        self, model: str | None, benchmark: str, *, statistic: str | None = None, last: int | None = None
    ) -> History:
        """Figures that refreshes stored of a model, or of a benchmark as a whole (None); see
        :func:`warehouse.refresh.history.history`."""
        from warehouse.refresh.history import history

        with self.reading() as store:
            return history(store, model, benchmark, statistic=statistic, last=last)

    def report(self, out: str | Path = "report.html", *benchmarks: str, split: bool = False, **options: Any) -> Written:
        """Write benchmarks (default: all) as one HTML page, or ``split`` into a folder of them;
        options as in :func:`warehouse.analysis.report_data.report.read_report`.

        Raises:
            MisuseError: an unknown benchmark, or a path that cannot be written.
        """
        from warehouse.analysis.report_data.report import read_report
        from warehouse.report.page import check_target, write_report
        from warehouse.report.split import check_folder, write_split

        (check_folder if split else check_target)(out)
        with self.reading() as store:
            data = read_report(store, benchmarks, **options)
        return (write_split if split else write_report)(data, out)

    def __repr__(self) -> str:
        from warehouse.store.engines import shown_text

        return f"Warehouse({shown_text(self.url or DEFAULT_URL)!r})"
