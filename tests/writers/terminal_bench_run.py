"""Writes the run of ``tests/data/terminal_bench`` with the result models of the real
package.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install pydantic numpy
    /tmp/venv/bin/pip install --no-deps terminal-bench==0.2.18
    /tmp/venv/bin/python tests/writers/terminal_bench_run.py FOLDER

The harness itself runs containers; its models hold the results and write the files, in
the layout of its ``harness.py``. Every field that the importer reads has a value of its
own.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from uuid import UUID

found = importlib.util.find_spec("terminal_bench")
assert found is not None and found.origin is not None
ROOT = Path(found.origin).parent
for name in (
    "",
    ".harness",
    ".agents",
    ".parsers",
):  # without the agents' own dependencies
    module = types.ModuleType(f"terminal_bench{name}")
    module.__path__ = [str(ROOT / name.lstrip("."))]
    sys.modules[module.__name__] = module

from terminal_bench.harness.models import BenchmarkResults, RunMetadata, TrialResults  # noqa: E402


def trial(
    task: str, attempt: int, resolved: bool | None, **more: object
) -> TrialResults:
    number = 16 * len(task) + attempt
    return TrialResults(
        id=UUID(int=number, version=4),
        trial_name=f"{task}.{attempt}-of-2.demo",
        task_id=task,
        instruction=f"Please do {task}.",
        is_resolved=resolved,
        total_input_tokens=1000 + number,
        total_output_tokens=100 + number,
        trial_started_at="2026-11-20T11:00:00+00:00",
        trial_ended_at="2026-11-20T12:00:00+00:00",
        agent_started_at="2026-11-20T11:10:00+00:00",
        agent_ended_at=f"2026-11-20T11:10:{10 + attempt}.500000+00:00",
        test_started_at="2026-11-20T11:30:00+00:00",
        test_ended_at="2026-11-20T11:45:00+00:00",
        **more,
    )


TRIALS = [
    trial(
        "sort",
        1,
        True,
        failure_mode="unset",
        parser_results={"test_a": "passed", "test_b": "passed"},
    ),
    trial(
        "sort",
        2,
        False,
        failure_mode="agent_timeout",
        parser_results={"test_a": "failed"},
    ),
    trial("chess", 1, None, failure_mode="parse_error"),
    trial("chess", 2, True, failure_mode="none", parser_results={"test_c": "passed"}),
]


def main(folder: Path) -> None:
    run = folder / "demo"
    results = BenchmarkResults(id=UUID(int=7, version=4), results=TRIALS)
    metadata = RunMetadata(
        run_id="demo",
        uuid=str(UUID(int=8, version=4)),
        dataset_name="terminal-bench-demo",
        dataset_version="0.1.1",
        output_path="runs",
        agent_name="terminus",
        no_rebuild=False,
        cleanup=True,
        log_level=20,
        n_tasks=2,
        n_attempts=2,
        dataset_size=3,
        accuracy=results.accuracy,
        model_name="org/tiny",
        commit_hash="abc123",
        start_time="2026-11-20T10:59:00+00:00",
        end_time="2026-11-20T13:00:00+00:00",
        agent_kwargs={"max_steps": 9, "nothing": None},
        pass_at_k=results.pass_at_k,
    )
    write(run / "results.json", results)
    write(run / "run_metadata.json", metadata)
    for item in TRIALS:
        write(run / item.task_id / item.trial_name / "results.json", item)


def write(path: Path, model: BenchmarkResults | RunMetadata | TrialResults) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(model.model_dump_json(indent=4))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
