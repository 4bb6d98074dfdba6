"""Figures of runs in a store, made anew of the facts that it holds.

A content digest is written once, when a run is loaded. Whoever changes a score and the
mean of its prompt alike leaves every other check content: here the digests, keys, means
and hashes are worked out again, by sets, for blocks of runs. Facts of a block are
brought into an in-memory database beside the store, the same for every engine.

What cannot be made anew is not stored: of a prompt whose key is that of its content,
the content; of texts that a source was loaded without (``--text``), the texts. A digest
is no signature: who changes facts and writes the digest that belongs to them is found
by comparison with a claim, an export or the dumps alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

from warehouse.errors import StoreError
from warehouse.records import PublishedScore, parse_json
from warehouse.records.canonical_json import canonical_digest
from warehouse.records.settings import condition_key_of
from warehouse.store.connection import Store
from warehouse.store.curate.ignored_settings import IgnoredSettings
from warehouse.store.load.run_keys import execution_key, published_digest
from warehouse.store.load.scratch import RemoteScratch
from warehouse.store.sql.query_files import query_text

#: Facts and runs that are brought into memory at a time; of a store with limits, whose
#: answers are bounded, fewer.
FACTS_OF_A_BLOCK, FACTS_WITHIN_LIMITS, RUNS_OF_A_BLOCK = 1_000_000, 100_000, 1_000
#: Prompts that are looked at at a time.
PROMPTS_OF_A_BLOCK = 50_000
#: Texts that are not those of their hashes: so many are counted.
TEXTS_SHOWN = 10_000
#: Runs that an error names.
RUNS_NAMED = 10

#: Is told which share is done, in (0, 1].
Progress = Callable[[float], object]


#: Scores from which on the seconds per million are told.
FEWEST_FOR_RATE = 100_000


@dataclass(frozen=True)
class RunFault:
    """One thing in which a run is not what its facts make it."""

    run_id: int  #: id of the run.
    model: str  #: who was evaluated.
    benchmark: str  #: on what.
    what: str  #: ``content_digest``, one of its keys, or the check of ``queries/checks`` that its rows break.
    stored: str  #: what the store says.
    recomputed: str  #: what its facts give.

    def __str__(self) -> str:
        return (
            f"run {self.run_id} ({self.model} on {self.benchmark}): {self.what} is "
            f"stored as {self.stored[:20] or 'empty'}, its facts give "
            f"{self.recomputed[:20] or 'empty'}"
        )


@dataclass(frozen=True)
class TextFault:
    """Texts of one kind that are not those of their hashes."""

    table: str  #: ``content`` or ``prompt``.
    first: str  #: the first of them: a hash, or the id of a prompt.
    n: int  #: how many.

    def __str__(self) -> str:
        return (
            f"{self.table}: texts that are not those of their hashes: {self.n}, the "
            f"first is {self.first}"
        )


@dataclass(frozen=True)
class Recomputed:
    """The outcome of working everything out again."""

    n_runs: int  #: runs that were looked at.
    n_scores: int  #: scores behind them.
    seconds: float  #: that it took.
    runs: tuple[RunFault, ...]  #: runs that differ, by id.
    texts: tuple[TextFault, ...]  #: texts that differ, by table.

    @property
    def ok(self) -> bool:
        """Nothing differs."""
        return not self.runs and not self.texts

    def __str__(self) -> str:
        said = (
            f"{self.n_scores:,} scores of {self.n_runs:,} runs in {self.seconds:.1f} s"
        )
        if self.n_scores < FEWEST_FOR_RATE:  # what is done once takes most of it
            return said
        return f"{said} ({1e6 * self.seconds / self.n_scores:.1f} s per million scores)"


def recompute(store: Store, progress: Progress | None = None) -> Recomputed:
    """Work out anew what the store says of all its runs and texts; nothing is written.

    Args:
        progress: told which share of the facts is done.
    """
    started = time.monotonic()
    with closing(Proof(store, progress)) as proof:
        rows = proof.runs()
        faults = tuple(sorted(proof.faults_of(rows), key=lambda fault: fault.run_id))
        texts = tuple(proof.text_faults())
    n_scores = sum(int(row["n_scores"]) for row in rows)
    return Recomputed(
        len(rows), n_scores, round(time.monotonic() - started, 3), faults, texts
    )


class Proof:
    """Recomputes runs of one open store; a context that lets go of the memory.

    Args:
        store: open in any way; nothing is written.
        progress: told which share of the facts is done.
    """

    def __init__(self, store: Store, progress: Progress | None = None) -> None:
        self.store, self.progress = store, progress
        self.scratch = RemoteScratch(store)
        if store.limits is None:
            self.n_facts = FACTS_OF_A_BLOCK
        else:
            self.n_facts = FACTS_WITHIN_LIMITS

    def close(self) -> None:
        """Let go of the memory."""
        self.scratch.close()

    def runs(self, run_ids: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Runs with their keys, by id: some, or all."""
        text = query_text("store", "runs_to_prove")
        if run_ids is None:
            return self.store.rows(text.format(chosen="1 = 1"))
        return self.store.rows(
            text.format(chosen="run.id in (:run_ids)"), {"run_ids": list(run_ids)}
        )

    def faults_of(
        self, rows: Sequence[dict[str, Any]], checks: Sequence[str] = ()
    ) -> Iterator[RunFault]:
        """Faults of runs (:meth:`runs`).

        Args:
            checks: files of ``queries/checks`` that their facts must pass as well.
        """
        ignored = IgnoredSettings.read(self.store)
        for row in rows:
            yield from _key_faults(row, ignored)
        sampled = [
            row for row in rows if not row["content_digest"].startswith("published:")
        ]
        self._bring_names(sampled)
        done = 0
        total = sum(map(_size, sampled)) or 1
        for block in _blocks(sampled, self.n_facts):
            self._bring_facts(block, with_means=bool(checks))
            yield from self._other_digests(block)
            for check in checks:
                yield from self._broken(check, block)
            done += sum(map(_size, block))
            if self.progress is not None:
                self.progress(done / total)
        yield from self._other_figures(
            [row for row in rows if row["content_digest"].startswith("published:")]
        )

    def _bring_names(self, rows: Sequence[dict[str, Any]]) -> None:
        """Names of metrics and variants, and the hashes of the keys of all prompts on
        the benchmarks of some runs."""
        for table, columns in (
            ("metric", "id, name, filter"),
            ("prompt_variant", _VARIANT),
        ):
            self._pull(table, f"select {columns} from {table}")
        self.scratch.run(
            "create or replace temp table prompt_place (id bigint, hash ubigint)"
        )
        benchmarks = sorted({row["benchmark_id"] for row in rows})
        for low, high in self._ranges_of_prompts(benchmarks):
            values = {"benchmarks": benchmarks, "low": low, "high": high}
            self._pull(
                "held_prompt",
                f"select id, key, occurrence from prompt where {_OF_RANGE}",
                values,
            )
            self.scratch.run(
                f"insert into prompt_place select id, hash_64({self._as_loaded('key')} "
                "|| chr(31) || occurrence) from held_prompt"
            )

    def _ranges_of_prompts(
        self, benchmarks: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """Ranges of ids, first and last, of the prompts on some benchmarks."""
        if not benchmarks:
            return
        ends = (
            "select min(id) as low, max(id) as high from prompt where benchmark_id in "
            "(:benchmarks)"
        )
        (row,) = self.store.rows(ends, {"benchmarks": benchmarks})
        if row["low"] is None:
            return
        for low in range(row["low"], row["high"] + 1, PROMPTS_OF_A_BLOCK):
            yield low, low + PROMPTS_OF_A_BLOCK - 1

    def _as_loaded(self, column: str) -> str:
        """A text as it was when it was hashed: a server has U+FFFD where it cannot hold
        U+0000."""
        if self.store.dialect.embedded:
            return column
        return f"replace({column}, chr(65533), chr(0))"

    def _bring_facts(
        self, block: Sequence[dict[str, Any]], *, with_means: bool
    ) -> None:
        ids = {"run_ids": [row["run_id"] for row in block]}
        for table, columns in _FACTS.items():
            self._pull(
                table, f"select {columns} from {table} where run_id in (:run_ids)", ids
            )
        if with_means:
            for table in ("prompt_score", "draw_score"):
                self._pull(
                    table, f"select * from {table} where run_id in (:run_ids)", ids
                )
            counts = "id, n_found, n_scores, n_generations, n_choices"
            self._pull("run", f"select {counts} from run where id in (:run_ids)", ids)

    def _pull(
        self, table: str, sql: str, params: Mapping[str, Any] | None = None
    ) -> None:
        self.scratch.put(table, self.store.arrow(sql, params))

    def _other_digests(self, block: Sequence[dict[str, Any]]) -> Iterator[RunFault]:
        found = self.scratch.rows(query_text("ingest", "stored_digest"))
        digests = {run_id: canonical_digest([n, total]) for run_id, n, total in found}
        for row in block:
            digest = digests.get(row["run_id"], canonical_digest([]))
            if digest != row["content_digest"]:
                yield _fault(row, "content_digest", row["content_digest"], digest)

    def _broken(
        self, check: str, block: Sequence[dict[str, Any]]
    ) -> Iterator[RunFault]:
        by_id = {row["run_id"]: row for row in block}
        table = self.scratch.table(query_text("checks", check))
        for found in table.to_pylist():
            details = {
                name: value
                for name, value in found.items()
                if name not in ("run_id", "n", "declared", "found")
            }
            words = " ".join(str(value) for value in details.values())
            stored = f"{found.get('declared', words)}"
            yield _fault(
                by_id[found["run_id"]],
                check,
                stored,
                f"{found.get('found', 'another')} ({found['n']} rows)",
            )

    def _other_figures(self, rows: Sequence[dict[str, Any]]) -> Iterator[RunFault]:
        """Runs without samples whose published figures have another digest."""
        for block in _blocks(rows, RUNS_OF_A_BLOCK):
            ids = [row["run_id"] for row in block]
            figures: dict[int, list[dict[str, Any]]] = {run_id: [] for run_id in ids}
            for figure in self.store.rows(
                query_text("store", "published_to_prove"), {"run_ids": ids}
            ):
                figures[figure["run_id"]].append(figure)
            for row in block:
                digests = _figure_digests(figures[row["run_id"]])
                if row["content_digest"] not in digests:
                    yield _fault(
                        row, "content_digest", row["content_digest"], digests[0]
                    )

    def text_faults(self) -> Iterator[TextFault]:
        """Kinds of texts that are not those of their hashes."""
        for table, faults in (
            ("content", self._other_contents()),
            ("prompt", self._other_questions()),
        ):
            found = list(faults)
            if found:
                yield TextFault(table, found[0], len(found))

    def _other_contents(self) -> Iterator[str]:
        made = self.store.dialect.sha256_of("text")
        others = (
            f"select sha256, text from content where sha256 <> {made} order by sha256 "
            f"limit {TEXTS_SHOWN}"
        )
        for row in self.store.rows(others):
            if (
                sha256(row["text"].replace("\ufffd", "\0").encode()).digest()
                != row["sha256"]
            ):
                yield row["sha256"].hex()

    def _other_questions(self) -> Iterator[str]:
        benchmarks = [row["id"] for row in self.store.rows("select id from benchmark")]
        for low, high in self._ranges_of_prompts(benchmarks):
            values = {"benchmarks": benchmarks, "low": low, "high": high}
            self._pull(
                "held_question",
                f"select id, text, text_hash from prompt where {_OF_RANGE}",
                values,
            )
            others = query_text("ingest", "unlike_questions").format(
                as_loaded=self._as_loaded("text")
            )
            for (prompt_id,) in self.scratch.rows(others):
                yield f"prompt {prompt_id}"


_VARIANT = "id, perturbation, fewshot_draw, template"
_OF_ROW = "run_id, prompt_id, variant_id, draw"
_FACTS = {
    "score": f"{_OF_ROW}, metric_id, value, weight, n_draws, origin",
    "generation": f"{_OF_ROW}, response_hash",
    "choice": f"{_OF_ROW}, choice_index, loglikelihood",
}
_OF_RANGE = "benchmark_id in (:benchmarks) and id between :low and :high"
#: Checks of what is made of a run's scores, for a few runs.
MEANS = ("prompt_score", "draw_score", "run_counts")


def _size(row: Mapping[str, Any]) -> int:
    return int(row["n_scores"] + row["n_generations"] + row["n_choices"])


def _blocks(
    rows: Sequence[dict[str, Any]], most: int
) -> Iterator[list[dict[str, Any]]]:
    """Runs in their order, so many facts together at most, unless a run has more."""
    block: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        if block and (size + _size(row) > most or len(block) == RUNS_OF_A_BLOCK):
            yield block
            block, size = [], 0
        block.append(row)
        size += _size(row)
    if block:
        yield block


def _fault(
    row: Mapping[str, Any], what: str, stored: str | None, recomputed: str | None
) -> RunFault:
    return RunFault(
        row["run_id"],
        row["model"],
        row["benchmark"],
        what,
        stored or "",
        recomputed or "",
    )


def _key_faults(row: Mapping[str, Any], ignored: IgnoredSettings) -> Iterator[RunFault]:
    settings = {}
    if row["settings"]:
        settings = parse_json(row["settings"])
    marks = {}
    if row["marks"]:
        marks = parse_json(row["marks"])
    recorded = condition_key_of(settings)
    run_key = None
    if row["harness_run_id"] is not None:
        parts = ("harness", "harness_run_id", "model", "benchmark", "split")
        run_key = canonical_digest([row[name] for name in parts])
    expected = {
        "recorded_key": recorded,
        "condition_key": ignored.condition_key(row["benchmark"], settings) or recorded,
        "execution_key": execution_key(marks),
        "run_key": run_key,
    }
    for name, key in expected.items():
        if row[name] != key:
            yield _fault(row, name, row[name], key)


def _figure_digests(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Digests that the published figures of a run may have been given: whether each
    named the run's own benchmark and split, or left them out, is not stored; nor, of a
    text, whether it was a number beyond the engine's."""
    digests = []
    for leaves_out in ((), ("benchmark",), ("split",), ("benchmark", "split")):
        for as_number in (False, True):
            digests.append(
                published_digest(
                    tuple(_published(row, leaves_out, as_number) for row in figures)
                )
            )
    return digests


def _published(
    row: Mapping[str, Any], leaves_out: Sequence[str], as_number: bool
) -> PublishedScore:
    said = {name: row[name] for name in ("benchmark", "split")}
    for name in leaves_out:
        if row[name] == row[f"own_{name}"]:
            said[name] = ""
    value = row["value"]
    if as_number and row["raw"]:
        try:
            value = float(row["raw"])
        except ValueError:
            value = row["value"]
    return PublishedScore(
        metric=row["metric"],
        value=value,
        filter=row["filter"],
        benchmark=said["benchmark"],
        statistic=row["statistic"],
        perturbation=row["perturbation"],
        split=said["split"],
        standard_error=row["standard_error"],
    )


def require_proven(store: Store, run_ids: Sequence[int] | None) -> None:
    """Refuse to rest on runs whose scores, means or keys are not what they were loaded
    as.

    Args:
        store: open in any way.
        run_ids: of the runs; ``None`` for all of the store.

    Raises:
        StoreError: names them.
    """
    with closing(Proof(store)) as proof:
        faults = list(islice(proof.faults_of(proof.runs(run_ids), MEANS), 10_000))
    if not faults:
        return
    by_run = {fault.run_id: fault for fault in reversed(faults)}
    first = [by_run[run_id] for run_id in sorted(by_run)][:RUNS_NAMED]
    more = ""
    if len(by_run) > len(first):
        more = f"; and {len(by_run) - len(first)} runs more"
    raise StoreError(
        f"{'; '.join(map(str, first))}{more}: changed since loading, so that nothing "
        "can rest on it; expected every run as its source gave it; see warehouse "
        "store check --deep, then forget the source and ingest it again"
    )
