"""Measures of runs in a load: digests, counts, and what their scores are like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from warehouse.records.canonical_json import canonical_digest
from warehouse.store.load.run_keys import marks_of_samples
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.staging import UNIQUE
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class Measured:
    """Measures of one run: an order-free digest, and counts of rows."""

    content_digest: str
    n_prompts: int
    n_generations: int
    n_choices: int
    n_scores: int
    has_responses: bool = False


@dataclass(frozen=True)
class ScoreSummary:
    """A row of ``score_summary.sql``."""

    run: int
    metric_id: int
    n: int
    n_values: int
    low: float | None
    high: float | None
    is_binary: bool
    n_texts: int
    n_weighted: int


def summarise_scores(scratch: Scratch) -> list[ScoreSummary]:
    """A summary of the scores that are left after :func:`settle_duplicates`."""
    return [
        ScoreSummary(*row)
        for row in scratch.rows(query_text("ingest", "score_summary"))
    ]


def measure(
    scratch: Scratch,
    prompts: Mapping[int, int],
    sizes: Mapping[str, int],
    scores: Iterable[ScoreSummary],
) -> dict[int, Measured]:
    """Digest and counts of each run that has samples.

    Args:
        scratch: with facts that are settled.
        prompts: :func:`prompts_of_runs`.
        sizes: how many rows each table has.
        scores: :func:`summarise_scores`.
    """
    digests = {
        run: canonical_digest([n, total])
        for run, n, total in scratch.rows(query_text("ingest", "digest"))
    }
    counts: dict[str, Counter[int]] = {table: Counter() for table in UNIQUE}
    for item in scores:
        counts["stage_score"][item.run] += item.n
    for table in ("stage_generation", "stage_choice"):
        if sizes[table]:
            of_runs = f"select run, count(*) from {table} group by run"
            if len(prompts) > 1:
                counts[table].update(dict(scratch.rows(of_runs)))
            else:
                counts[table].update({min(prompts): sizes[table]})
    responded: set[int] = set()
    if sizes["stage_generation"]:
        with_one = (
            "select distinct run from stage_generation where response_hash is not null"
        )
        responded = {run for (run,) in scratch.rows(with_one)}
    return {
        run: Measured(
            content_digest=digests.get(run, canonical_digest([])),
            n_prompts=prompts[run],
            n_generations=counts["stage_generation"][run],
            n_choices=counts["stage_choice"][run],
            n_scores=counts["stage_score"][run],
            has_responses=run in responded,
        )
        for run in sorted(prompts)
    }


def sample_marks(
    scratch: Scratch, columns: AbstractSet[str]
) -> dict[int, dict[str, str]]:
    """Marks of the execution of each run by its samples.

    Args:
        scratch: with generations that are settled.
        columns: of samples, that may hold anything.
    """
    if not columns & {"latency", "cost"}:
        return {}
    rows = scratch.rows(query_text("ingest", "sample_marks"))
    return {run: marks_of_samples(latency, cost) for run, latency, cost in rows}
