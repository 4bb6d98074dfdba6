"""Writes the run folders of ``tests/data/helm`` with the real package.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install crfm-helm==0.5.16
    cp tests/writers/helm_runs.py /tmp && cd /tmp
    /tmp/venv/bin/python helm_runs.py FOLDER

The package's own simple scenarios, answered by its simple client, which is told here
what to say: a word of the prompt, with a likelihood for each word that tells which one
it is.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from helm.benchmark import run
from helm.benchmark.adaptation.common_adapter_specs import (
    get_language_modeling_adapter_spec,
    get_multiple_choice_adapter_spec,
)
from helm.benchmark.metrics.common_metric_specs import (
    get_exact_match_metric_specs,
    get_language_modeling_metric_specs,
)
from helm.benchmark.run_spec import RunSpec, run_spec_function
from helm.benchmark.scenarios.scenario import (
    TEST_SPLIT,
    Input,
    Instance,
    Scenario,
    ScenarioSpec,
)
from helm.benchmark.window_services.default_window_service import DefaultWindowService
from helm.clients.simple_client import SimpleClient
from helm.common.request import GeneratedOutput, RequestResult, Token

KEPT = (
    "run_spec.json",
    "scenario.json",
    "scenario_state.json",
    "per_instance_stats.json",
    "stats.json",
)
WINDOW = 12  # tokens of a request at most
ENTRIES = (
    "quiz:way=multiple_choice_joint,model=simple/model1,num_train_trials=2,"
    "max_train_instances=1,data_augmentation=space",
    "quiz:way=multiple_choice_separate_calibrated,model=simple/model1,max_train_instances=1",
    "simple_classification:model=simple/model1,max_train_instances=1",
    "prose:model=simple/model1",
)


@run_spec_function("quiz")
def quiz(way: str) -> RunSpec:
    adapter = get_multiple_choice_adapter_spec(way, "Choose.", "Question", "Answer")
    return RunSpec(
        name=f"quiz:way={way}",
        scenario_spec=ScenarioSpec(
            "helm.benchmark.scenarios.simple_scenarios.SimpleMCQAScenario"
        ),
        adapter_spec=adapter,
        metric_specs=get_exact_match_metric_specs(),
        groups=["quiz", f"quiz_{way}"],
    )


class ProseScenario(Scenario):
    """Texts without question; one is longer than a request may be."""

    name = "prose"
    description = "Made texts."
    tags: list[str] = []

    def get_instances(self, output_path: str) -> list[Instance]:
        texts = ("1 short text", "2 " + " ".join(f"wörd{place}" for place in range(20)))
        return [
            Instance(Input(text=text), references=[], split=TEST_SPLIT)
            for text in texts
        ]


@run_spec_function("prose")
def prose() -> RunSpec:
    return RunSpec(
        name="prose:part=made",
        scenario_spec=ScenarioSpec(f"{__name__}.ProseScenario"),
        adapter_spec=get_language_modeling_adapter_spec(),
        metric_specs=get_language_modeling_metric_specs([]),
        groups=["prose"],
    )


def make_request(self: SimpleClient, request: object) -> RequestResult:
    """The prompt echoed, or a letter or number out of it."""
    words = request.prompt.split()
    # a calibration prompt names no number
    number = next((int(word) for word in reversed(words) if word.isdigit()), 1)
    said = request.prompt if request.echo_prompt else " A" if number % 3 else " B"
    pieces = [
        piece if place == 0 else f" {piece}"
        for place, piece in enumerate(said.split(" "))
    ]
    tokens = [
        Token(piece, -(number + place / 8 + len(piece) / 64))
        for place, piece in enumerate(pieces)
        if piece
    ]
    answer = GeneratedOutput(
        said,
        sum(token.logprob for token in tokens),
        tokens,
        finish_reason={"reason": "length"},
    )
    return RequestResult(
        success=True,
        embedding=[],
        completions=[answer],
        cached=False,
        request_time=0.25 + number,
        request_datetime=1_795_000_000 + number,
    )


def main(folder: Path) -> None:
    SimpleClient.make_request = make_request
    DefaultWindowService.max_sequence_length = property(lambda self: WINDOW)
    with tempfile.TemporaryDirectory() as scratch:
        sys.argv = [
            "helm-run",
            "--run-entries",
            *ENTRIES,
            "--suite",
            "v1",
            "-o",
            scratch,
            "--max-eval-instances",
            "2",
            "--disable-cache",
        ]
        run.main()
        for made in sorted(Path(scratch, "runs", "v1").glob("*:*")):
            # colons are no part of a file name everywhere
            target = folder / "runs" / "v1" / made.name.replace(":", "-")
            target.mkdir(parents=True, exist_ok=True)
            for name in KEPT:
                document = json.loads((made / name).read_text())
                (target / name).write_text(
                    json.dumps(document)
                )  # a third of the indented size


if __name__ == "__main__":
    main(Path(sys.argv[1]))
