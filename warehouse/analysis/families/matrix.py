"""Family ``matrix``: are prompts correlated beyond chance? Computed on request: it
takes long."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import (
    FamilySettings,
    RefreshQuestion,
    Value,
    about_all,
)


class MatrixTests:
    """One question for each benchmark with two conditions."""

    name, version = "matrix", "1"

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """One, where there can be a matrix."""
        return about_all(data, permutations=settings.permutations, seed=settings.seed)

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """Each statistic of each similarity, with its permutation p in the details.

        Raises:
            MisuseError: fewer than two models or complete prompts.
        """
        from warehouse.analysis.matrix.analyses import run_test
        from warehouse.analysis.matrix.read import read_matrix
        from warehouse.analysis.selection.selection import Selection

        with data.opened() as store:
            matrix = read_matrix(store, Selection(data.benchmark.name))
        test = run_test(matrix, (), settings.permutations, settings.seed, None)
        return [
            Value(
                "benchmark",
                data.benchmark.name,
                test.metric,
                f"{row.similarity}_{row.statistic}",
                "permutation",
                estimate=row.observed,
                n=test.n_prompts,
                reason=row.reason,
                details={
                    "p_value": row.p_value,
                    "permuted_mean": row.permuted_mean,
                    "permuted_low": row.permuted_low,
                    "permuted_high": row.permuted_high,
                    "permutations": settings.permutations,
                    "models": list(test.models),
                },
            )
            for row in test.rows
        ]


FAMILY = MatrixTests()
