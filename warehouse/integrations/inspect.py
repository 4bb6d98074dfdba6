"""Inspect: stop an evaluation once it is settled how it compares with a model of the
store.

    from inspect_ai import eval
    from warehouse.integrations.inspect import stop_early

    eval(stop_early(my_task(), "evals.duckdb", "openai/gpt-4o", margin=0.02),
    model="openai/gpt-5")

Needs ``pip install eval-warehouse[inspect]``.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai import Task, task_with
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.util import EarlyStop

from warehouse.analysis.selection.selection import Selection, as_conditions
from warehouse.analysis.sequential.plan import (
    MANAGER,
    LiveTest,
    first_occurrences,
    plan_for,
    read_baseline,
)
from warehouse.analysis.sequential.question import SequentialSettings
from warehouse.analysis.sequential.stopped import PromptKey
from warehouse.errors import MisuseError
from warehouse.importers.inspect.sample_fields import (
    as_score,
    identity_of,
    letters_of,
    values_of,
)
from warehouse.records.canonical_json import content_key
from warehouse.store.open import open_store

if TYPE_CHECKING:
    from inspect_ai.log import EvalSpec
    from inspect_ai.scorer import SampleScore

SampleId = str | int


def stop_early(
    task: Task,
    store: str | Path | None,
    baseline: str,
    *,
    margin: float,
    n_max: int | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    benchmark: str | None = None,
    metric: str | None = None,
    where: Sequence[str] = (),
    latest: bool = False,
    use_history: bool = True,
) -> Task:
    """The task with its samples in the declared order, and stopped once the verdict is
    there.

    The verdict is that of ``warehouse gate --sequential`` on the full benchmark; the
    log says why the run was stopped, and the store that reads it knows the run for one.

    Args:
        task: with a dataset of a fixed size whose prompts are those of the baseline.
        store: URL or file of the store; None: the default.
        baseline: reference of a model of the store that has scores of all samples.
        margin: loss that is tolerated, from 0, in the unit of the metric.
        n_max: the most samples that are asked; None: all.
        alpha: chance of a wrong verdict, both sides together.
        seed: of the order of the samples.
        benchmark: its name in the store; None: the name of the task.
        metric: ``name`` (the scorer, or ``scorer.key``); None: the benchmark's headline
            metric.
        where: conditions ``field=value`` on the baseline's runs.
        latest: where the reference means several conditions, take the one that ran
            last.
        use_history: predict scores by other models of the store, besides the baseline.

    Raises:
        MisuseError: samples that the baseline does not have, or the other way round, or
            a baseline that cannot be one.
        StatisticsError: a number out of range.
        StoreError: there is no store.
    """
    settings = SequentialSettings(
        margin, n_max=n_max, alpha=alpha, seed=seed, use_history=use_history
    )
    selection = Selection(
        benchmark or task.name, metric, as_conditions(where), latest=latest
    )
    stopper = Stopper(store, baseline, settings, selection)
    samples = _with_ids(list(task.dataset))
    keys = sample_keys(samples)
    positions = stopper.positions(keys)
    ordered = [
        samples[number]
        for number in sorted(range(len(samples)), key=positions.__getitem__)
    ]
    dataset = MemoryDataset(
        ordered, name=task.dataset.name, location=task.dataset.location
    )
    changed: Task = task_with(task, dataset=dataset, early_stopping=stopper)
    return changed


class Stopper:
    """An early-stopping manager of Inspect; see `stop_early`, which makes one."""

    def __init__(
        self,
        store: str | Path | None,
        baseline: str,
        settings: SequentialSettings,
        selection: Selection,
    ) -> None:
        if store is None:
            self._store = None
        else:
            self._store = str(store)
        self._reference = baseline
        self._settings, self._selection = settings, selection
        self._test: LiveTest | None = None
        self._positions: dict[SampleId, int] = {}
        self._epochs = 1
        self._scores: dict[SampleId, dict[int, float | None]] = {}

    def positions(self, keys: Sequence[PromptKey]) -> list[int]:
        """Position of each sample in the order.

        Raises:
            MisuseError: the samples are not the prompts of the baseline.
        """
        test = self._new_test("")
        positions = [test.position(key) for key in keys]
        present = [index for index in positions if index is not None]
        n = test.plan.order.n
        if len(present) < len(keys) or len(present) < n:
            raise MisuseError(
                f"the task has {len(keys)} samples, of which {self._reference} has "
                f"{len(present)} of its {n} on {self._selection.benchmark}; expected "
                "the same prompts (input, target and choices)"
            )
        return present

    async def start_task(
        self, task: EvalSpec, samples: list[Sample], epochs: int
    ) -> str:
        """Fix order, predictions and limits."""
        self._test = self._new_test(str(task.model))
        positions = [self._test.position(key) for key in sample_keys(samples)]
        if positions != list(range(len(samples))):
            raise MisuseError(
                "the samples do not come in the declared order: leave out "
                "--sample-shuffle, --sample-id and a range of --limit, and do not "
                "change the dataset after stop_early()"
            )
        self._epochs, self._scores = epochs, {}
        self._positions = {
            _id_of(sample): index for index, sample in enumerate(samples)
        }
        _RUNNING[task.eval_id] = self
        return MANAGER

    async def schedule_sample(self, id: SampleId, epoch: int) -> EarlyStop | None:
        """Leave a sample out once there is a verdict."""
        if self._test is None or not self._test.is_over:
            return None
        return EarlyStop(id=id, epoch=epoch, reason=self._test.reason)

    async def complete_sample(
        self, id: SampleId, epoch: int, scores: dict[str, SampleScore]
    ) -> None:
        """Take a sample's score; with several epochs a prompt counts when it has all of
        them."""
        self.take(id, epoch, self._score(scores))

    async def complete_task(self) -> dict[str, Any]:
        """What the log says of it."""
        for key in [key for key, running in _RUNNING.items() if running is self]:
            del _RUNNING[key]
        if self._test is None:
            return {}
        return self._test.record()

    def take(self, id: SampleId, epoch: int, score: float | None) -> None:
        """The score of one epoch of a sample, None where it failed; the first word
        counts."""
        if self._test is None or id not in self._positions:
            return
        done = self._scores.setdefault(id, {})
        if epoch in done:
            return
        done[epoch] = score
        if len(done) == self._epochs:
            present = [value for value in done.values() if value is not None]
            self._test.tell(
                self._positions[id], sum(present) / len(present) if present else None
            )

    def _new_test(self, candidate: str) -> LiveTest:
        with open_store(self._store) as store:
            baseline = read_baseline(store, self._reference, self._selection)
            self._metric = baseline.metric.name
            plan = plan_for(store, baseline, self._settings, candidate=candidate)
        return LiveTest(plan, self._settings, baseline.condition.model)

    def _score(self, scores: Mapping[str, SampleScore]) -> float | None:
        scored = {
            name: json.loads(one.score.model_dump_json())
            for name, one in scores.items()
        }
        values = dict(values_of(scored, ""))
        value: float | None = as_score(self._metric, values.get(self._metric))["value"]
        if value is None or math.isnan(value):
            return None
        return value


#: The stoppers of the tasks that are running, by the id of their log.
_RUNNING: dict[str, Stopper] = {}


@hooks(
    name="eval-warehouse", description="Tells early stopping of samples that failed."
)
class FailedSamples(Hooks):
    """Records failed samples as unscorable: Inspect calls an early-stopping manager for
    scored samples only."""

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Take a failed sample as one that cannot be scored."""
        stopper = _RUNNING.get(data.eval_id)
        if stopper is not None and data.sample.error is not None:
            stopper.take(data.sample.id, data.sample.epoch, None)


def sample_keys(samples: Sequence[Sample]) -> list[PromptKey]:
    """The keys that the importer of Inspect logs will give samples."""
    documents = map(_document, samples)
    return first_occurrences(
        [content_key(identity_of(one, letters_of(one))) for one in documents]
    )


def _document(sample: Sample) -> dict[str, Any]:
    """A sample as a log has it."""
    document: dict[str, Any] = json.loads(sample.model_dump_json(exclude_none=True))
    return document


def _with_ids(samples: Sequence[Sample]) -> list[Sample]:
    """Samples with the ids that Inspect gives to those without: their numbers from 1.

    Raises:
        MisuseError: two samples with one id.
    """
    with_ids = [
        sample if sample.id is not None else sample.model_copy(update={"id": number})
        for number, sample in enumerate(samples, 1)
    ]
    twice = [
        name for name, count in Counter(map(_id_of, with_ids)).items() if count > 1
    ]
    if twice:
        raise MisuseError(f"two samples of the dataset have the id {twice[0]!r}")
    return with_ids


def _id_of(sample: Sample) -> SampleId:
    if sample.id is not None:
        return sample.id
    return 0
