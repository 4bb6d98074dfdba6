"""The circle with the real lm-eval: baseline into the store, a run that is stopped, its
log read back."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warehouse import connect
from warehouse.api import Warehouse
from warehouse.errors import MisuseError

pytest.importorskip("lm_eval", reason="needs the extra lm-eval")
pytestmark = [
    pytest.mark.rare,
    pytest.mark.filterwarnings("ignore"),
]  # warnings of others

from lm_eval.api.model import LM  # noqa: E402
from lm_eval.api.registry import register_model  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

from warehouse.integrations.lm_eval import SettledRun, run_until_settled  # noqa: E402

N = 300


def share(*parts: object) -> float:
    """A number in [0, 1) that depends on some words."""
    return (
        int(hashlib.md5("|".join(map(str, parts)).encode()).hexdigest()[:8], 16) / 2**32
    )


@register_model("scripted")
class Scripted(LM):
    """Agrees with the baseline on four questions of five, else is right with a chance
    of its own."""

    def __init__(self, pretrained: str = "", skill: float = 0.5, **others: Any) -> None:
        super().__init__()
        self.name, self.skill, self.asked = pretrained, float(skill), 0

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        found = []
        for request in requests:
            question, answer = request.args
            own = share("agree", self.name, question) > 0.8
            right = (
                share(self.name, question) < self.skill
                if own
                else share("base", question) < 0.7
            )
            found.append((0.0 if right == ("none" not in answer) else -5.0, True))
        return found

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        raise NotImplementedError

    def generate_until(self, requests: list[Any]) -> list[str]:
        raise NotImplementedError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A multiple-choice task of 300 questions, one of which is asked twice."""
    folder = tmp_path_factory.mktemp("lm_eval")
    rows = [
        {"question": f"double {n}", "choices": [str(2 * n), "none"]}
        for n in [*range(1, N), 1]
    ]
    (folder / "doubles.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (folder / "doubles.yaml").write_text(
        f"task: doubles\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {folder}/doubles.jsonl\n"
        "test_split: test\noutput_type: multiple_choice\ndoc_to_text: '{{question}}'\ndoc_to_choice: '{{choices}}'\n"
        "doc_to_target: 0\nmetric_list:\n  - metric: acc\n"
    )
    (folder / "pair.yaml").write_text("group: pair\ntask:\n  - doubles\n")
    yield folder


def run(
    folder: Path,
    house: str,
    name: str,
    skill: float,
    out: Path,
    baseline: str = "base",
    **named: Any,
) -> SettledRun:
    options = {
        "task_manager": TaskManager(include_path=str(folder), include_defaults=False),
        **named.pop("options", {}),
    }
    given = {"margin": 0.05, "seed": 2, **named}
    task = given.pop("task", "doubles")
    return run_until_settled(
        task,
        house,
        baseline,
        model="scripted",
        model_args=f"pretrained={name},skill={skill}",
        output_path=out,
        options=options,
        **given,
    )


@pytest.fixture(scope="module")
def house(folder: Path) -> Warehouse:
    """A store with the whole run of the baseline, made by the harness itself."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(folder / "base"))
    done = simple_evaluate(
        "scripted",
        "pretrained=base,skill=0.7",
        ["doubles"],
        bootstrap_iters=0,
        evaluation_tracker=tracker,
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
    )
    samples = done.pop("samples")
    tracker.save_results_aggregated(done, samples)
    tracker.save_results_samples("doubles", samples["doubles"])
    house = connect(folder / "s.db")
    house.ingest(folder / "base")
    return house


@pytest.mark.parametrize(
    ("name", "skill", "verdict"), [("good", 0.95, "pass"), ("bad", 0.0, "fail")]
)
def test_a_run_stops_and_is_known_for_it(
    house: Warehouse,
    folder: Path,
    tmp_path: Path,
    name: str,
    skill: float,
    verdict: str,
) -> None:
    said: list[str] = []
    done = run(folder, house.url, name, skill, tmp_path, piece=25, say=said.append)
    n = done.results["n-samples"]["doubles"]["effective"]
    assert done.record["verdict"] == verdict and done.record["decided_at"] <= n < N
    assert n % 25 == 0 and len(said) == n // 25 and n - done.record["decided_at"] < 25
    (log,) = tmp_path.rglob("results_*.json")
    stated = json.loads(log.read_text())
    assert f"{verdict} after" in stated["early_stopping"]["doubles"]["reason"]
    assert stated["results"]["doubles"]["acc_stderr,none"] == "N/A"
    assert stated["results"]["doubles"]["acc,none"] == pytest.approx(
        sum(one["acc"] for one in done.results["samples"]["doubles"]) / n
    )
    assert done.folder == log.parent
    house.ingest(done.folder)
    (row,) = house.sequential_gate(name, "base", 0.05, seed=2).rows
    assert (row.verdict, row.decided_at) == (verdict, done.record["decided_at"])
    assert (row.n_prompts, row.n_unscored) == (n, 0)
    assert [row.ci_low, row.ci_high] == pytest.approx(done.record["interval"])
    with pytest.raises(MisuseError, match="was stopped early by the betting rule"):
        house.compare(name, "base")
    with pytest.raises(MisuseError, match="was stopped early under"):
        house.sequential_gate(name, "base", 0.05, seed=3)
    shown = {one.model: one for one in house.leaderboard("doubles").rows}
    assert shown[name].method == "sequential betting" and shown[name].rank is None


def test_what_is_asked_must_be_what_the_baseline_has(
    house: Warehouse, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(MisuseError, match="pair is a group of tasks"):
        run(folder, house.url, "x", 0.5, tmp_path, task="pair", benchmark="doubles")
    with pytest.raises(MisuseError, match="no model with runs is called"):
        run(folder, house.url, "x", 0.5, tmp_path, baseline="none")
    with pytest.raises(MisuseError, match="lm-eval has no task 'nothing'"):
        run(folder, house.url, "x", 0.5, tmp_path, task="nothing")
    with pytest.raises(MisuseError, match="limit, samples is no further option"):
        run(folder, house.url, "x", 0.5, tmp_path, options={"limit": 5, "samples": {}})
    with pytest.raises(MisuseError, match="at least 1 document, found 0"):
        run(folder, house.url, "x", 0.5, tmp_path, piece=0)
    other = tmp_path / "other"
    other.mkdir()
    text = (
        (folder / "doubles.yaml")
        .read_text()
        .replace(f"{folder}/doubles", f"{other}/doubles")
    )
    (other / "doubles.yaml").write_text(text)
    lines = (folder / "doubles.jsonl").read_text().splitlines()
    (other / "doubles.jsonl").write_text("\n".join(lines[:200]) + "\n")
    with pytest.raises(
        MisuseError, match="200 documents, of which base has 200 of its 300"
    ):
        run(other, house.url, "x", 0.5, tmp_path)
    assert not list(tmp_path.rglob("results_*.json"))


def test_the_command_line(house: Warehouse, folder: Path, tmp_path: Path) -> None:
    """The dummy of lm-eval, which answers at random."""
    command = [
        sys.executable,
        "-m",
        "warehouse.integrations.lm_eval",
        "--db",
        house.url,
        "--margin",
        "0.05",
    ]
    command += [
        "--model",
        "dummy",
        "--model_args",
        "pretrained=dummy",
        "--tasks",
        "doubles",
        "--include_path",
    ]
    command += [str(folder), "--output_path", str(tmp_path), "--baseline"]
    done = subprocess.run([*command, "base"], capture_output=True, text=True)
    assert done.returncode in (0, 1, 5), done.stderr
    assert "against base" in done.stdout and "Next: warehouse ingest" in done.stdout
    assert list(tmp_path.rglob("samples_doubles_*.jsonl"))
    done = subprocess.run([*command, "nobody"], capture_output=True, text=True)
    assert (
        done.returncode == 2 and "no model with runs is called 'nobody'" in done.stderr
    )
    assert "Traceback" not in done.stderr
