"""The circle with the real Inspect: baseline into the store, a run that is stopped, its
log read back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warehouse import connect
from warehouse.api import Warehouse
from warehouse.errors import MisuseError

inspect_ai = pytest.importorskip("inspect_ai", reason="needs the extra inspect")
pytestmark = [
    pytest.mark.rare,
    pytest.mark.filterwarnings("ignore"),
]  # warnings of others

from inspect_ai import Task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ModelOutput  # noqa: E402
from inspect_ai.scorer import match  # noqa: E402
from inspect_ai.solver import solver  # noqa: E402

from warehouse.integrations.inspect import Stopper, sample_keys, stop_early  # noqa: E402

N = 300


def share(*parts: object) -> float:
    """A number in [0, 1) that depends on some words."""
    return (
        int(hashlib.md5("|".join(map(str, parts)).encode()).hexdigest()[:8], 16) / 2**32
    )


@solver
def answering(name: str, skill: float) -> Callable[..., Any]:
    """Agrees with the baseline on four prompts of five, else is right with a chance of
    its own."""

    async def solve(state: Any, generate: Any) -> Any:
        number = int(state.input_text.split()[1])
        own = share("agree", name, number) > 0.8
        right = share(name, number) < skill if own else share("base", number) < 0.7
        if name == "failing" and number % 40 == 7:
            raise ValueError("no answer")
        state.output = ModelOutput.from_content(
            "mockllm/model", str(2 * number) if right else "wrong"
        )
        return state

    return solve


def task(name: str, skill: float, n: int = N) -> Task:
    samples = [
        Sample(input=f"double {number} please", target=str(2 * number))
        for number in range(1, n + 1)
    ]
    samples += [
        Sample(input="double 1 please", target="2")
    ]  # a question that is asked twice
    return Task(
        dataset=MemoryDataset(samples, name="doubles"),
        solver=answering(name, skill),
        scorer=match(),
        name="doubles",
    )


def run(task: Task, name: str, folder: Path, **options: Any) -> Any:
    (log,) = inspect_ai.eval(
        task,
        model=f"mockllm/{name}",
        log_dir=str(folder / name),
        display="none",
        **options,
    )
    return log


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("inspect")
    house = connect(folder / "s.db")
    run(task("base", 0.7), "base", folder)
    house.ingest(folder / "base")
    return house


@pytest.mark.parametrize(
    ("name", "skill", "verdict"),
    [("good", 0.9, "pass"), ("bad", 0.0, "fail"), ("failing", 0.0, "fail")],
)
def test_a_run_stops_and_is_known_for_it(
    house: Warehouse, tmp_path: Path, name: str, skill: float, verdict: str
) -> None:
    watched = stop_early(
        task(name, skill), house.url, "mockllm/base", margin=0.05, seed=2
    )
    log = run(watched, name, tmp_path, fail_on_error=False)
    said = log.results.early_stopping
    assert (log.status, said.manager, said.metadata["verdict"]) == (
        "success",
        "eval-warehouse",
        verdict,
    )
    assert said.metadata["decided_at"] <= len(log.samples) < N + 1
    assert all(f"{verdict} after" in one.reason for one in said.early_stops)
    assert bool(said.metadata["n_unscored"]) == (name == "failing")
    house.ingest(tmp_path / name)
    (row,) = house.sequential_gate(f"mockllm/{name}", "mockllm/base", 0.05, seed=2).rows
    assert (row.verdict, row.decided_at) == (verdict, said.metadata["decided_at"])
    assert (row.n_prompts, row.n_unscored) == (
        said.metadata["n_prompts"],
        said.metadata["n_unscored"],
    )
    assert [row.ci_low, row.ci_high] == pytest.approx(said.metadata["interval"])
    with pytest.raises(MisuseError, match="was stopped early by the betting rule"):
        house.compare(f"mockllm/{name}", "mockllm/base")
    shown = {one.model: one for one in house.leaderboard("doubles").rows}
    assert shown[f"mockllm/{name}"].method == "sequential betting"
    (file,) = (tmp_path / name).glob("*.eval")
    followed = list(
        house.follow_gate(
            file, f"mockllm/{name}", "mockllm/base", 0.05, seed=2, pause=lambda: False
        )
    )
    assert followed[-1].decided_at == row.decided_at


def test_epochs_count_as_their_mean(house: Warehouse, tmp_path: Path) -> None:
    log = run(
        stop_early(task("twice", 0.9), house.url, "mockllm/base", margin=0.05),
        "twice",
        tmp_path,
        epochs=2,
    )
    assert log.results.early_stopping.metadata["verdict"] == "pass"


def test_another_dataset_or_order_is_refused(house: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(
        MisuseError,
        match="300 samples, of which mockllm/base has 300 of its 301|has 200 samples",
    ):
        stop_early(task("x", 0.5, n=199), house.url, "mockllm/base", margin=0.05)
    with pytest.raises(MisuseError, match="no model with runs is called"):
        stop_early(task("x", 0.5), house.url, "mockllm/none", margin=0.05)
    log = run(
        stop_early(task("x", 0.5), house.url, "mockllm/base", margin=0.05),
        "x",
        tmp_path,
        sample_shuffle=3,
    )
    assert log.status == "error" and "declared order" in log.error.message


def test_keys_are_those_of_the_importer(house: Warehouse) -> None:
    keys = sample_keys(list(task("base", 0.7).dataset))
    with house._reading() as store:
        stored = store.arrow("select key, occurrence from prompt").to_pylist()
    assert (
        set(keys) == {(row["key"], row["occurrence"]) for row in stored}
        and Stopper is not None
    )
