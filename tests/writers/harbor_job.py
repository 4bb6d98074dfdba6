"""Writes the job of ``tests/data/harbor`` with the result models of the real package.

    python3.12 -m venv /tmp/venv && /tmp/venv/bin/pip install harbor==0.25.0
    /tmp/venv/bin/python tests/writers/harbor_job.py FOLDER

Harbor itself runs containers; its models hold the results, add up the statistics and
write the files. Every field that the importer reads has a value of its own.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from harbor.metrics.mean import Mean
from harbor.models.agent.context import AgentContext
from harbor.models.job.result import JobResult, JobStats
from harbor.models.task.id import LocalTaskId
from harbor.models.trial.config import AgentConfig, TaskConfig, TrialConfig
from harbor.models.trial.result import (
    AgentInfo,
    ExceptionInfo,
    ModelInfo,
    TimingInfo,
    TrialResult,
)
from harbor.models.verifier.result import VerifierResult
from harbor.utils.pass_at_k import compute_pass_at_k_by_evals

START = datetime(2026, 11, 20, 11, 0, tzinfo=UTC)


def trial(
    number: int, task: str, reward: float | None, exception: str | None = None
) -> TrialResult:
    begun = START + timedelta(minutes=number)
    return TrialResult(
        id=UUID(int=number),
        task_name=task,
        trial_name=f"{task}__{number:07d}",
        trial_uri=f"file:///jobs/demo/{task}__{number:07d}",
        task_id=LocalTaskId(path=Path(task)),
        source="quiz@1.0",
        task_checksum=f"sum of {task}",
        config=TrialConfig(
            task=TaskConfig(path=Path(task)),
            trial_name=f"{task}__{number:07d}",
            agent=AgentConfig(
                name="terminus", model_name="org/tiny", kwargs={"max_turns": 9}
            ),
        ),
        agent_info=AgentInfo(
            name="terminus",
            version="2.1",
            model_info=ModelInfo(name="tiny", provider="org"),
        ),
        agent_result=AgentContext(
            n_input_tokens=1000 + number,
            n_cache_tokens=500,
            n_output_tokens=100 + number,
            cost_usd=0.25 * number,
        ),
        verifier_result=None
        if reward is None
        else VerifierResult(rewards={"reward": reward}),
        exception_info=None
        if exception is None
        else ExceptionInfo(
            exception_type=exception,
            exception_message=f"told {number}",
            exception_traceback="no trace",
            occurred_at=begun,
        ),
        started_at=begun,
        finished_at=begun + timedelta(seconds=50),
        agent_execution=TimingInfo(
            started_at=begun + timedelta(seconds=10),
            finished_at=begun + timedelta(seconds=20 + number),
        ),
    )


TRIALS = [
    trial(1, "sort", 1),
    trial(2, "sort", 0, "AgentTimeoutError"),
    trial(3, "chess", 1),
    trial(4, "chess", None, "VerifierTimeoutError"),
    trial(5, "maps", 0, "SSHAccessError"),
    trial(6, "maps", None, "ContextWindowExceededError"),
]


def main(folder: Path) -> None:
    stats = JobStats.from_trial_results(TRIALS)
    rewards = [
        item.verifier_result.rewards if item.verifier_result else None
        for item in TRIALS
    ]
    for key, rates in compute_pass_at_k_by_evals(TRIALS).items():
        stats.evals[key].pass_at_k = rates
        stats.evals[key].metrics = [Mean().compute(rewards)]
    job = JobResult(
        id=UUID(int=99),
        started_at=START,
        finished_at=START + timedelta(hours=1),
        n_total_trials=len(TRIALS),
        stats=stats,
    )
    write(folder / "demo" / "result.json", job)
    for item in TRIALS:
        write(folder / "demo" / item.trial_name / "result.json", item)


def write(path: Path, model: JobResult | TrialResult) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    excluded = {"trial_results"} if isinstance(model, JobResult) else None
    path.write_text(model.model_dump_json(indent=4, exclude=excluded))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
