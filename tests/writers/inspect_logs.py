"""Writes the logs of ``tests/data/inspect`` with the real package; its mock model
answers.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install inspect-ai==0.3.285
    cp tests/writers/inspect_logs.py /tmp && cd /tmp
    /tmp/venv/bin/python inspect_logs.py FOLDER

Logs hold the paths of those who made them, hence the detour. Every field that the
importer reads has a value of its own, so that crossed wires are seen.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import ProvenanceData, edit_score, read_eval_log, write_eval_log
from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.model._model_output import ChatCompletionChoice
from inspect_ai.scorer import (
    Score,
    ScoreEdit,
    accuracy,
    choice,
    match,
    mean,
    model_graded_qa,
    scorer,
    stderr,
)
from inspect_ai.solver import generate, multiple_choice, solver, system_message


def answer(text: str, number: int, stop: str = "stop") -> ModelOutput:
    """A response whose counts tell which one it is."""
    message = ChatMessageAssistant(content=text, model="mock-answer", source="generate")
    return ModelOutput(
        model="mock-answer",
        choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=ModelUsage(
            input_tokens=100 + number,
            output_tokens=200 + number,
            total_tokens=700 + number,
            input_tokens_cache_write=1000 * number,
            input_tokens_cache_read=20_000 * number,
            reasoning_tokens=300 + number,
            total_cost=0.5 + number,
        ),
        time=40.0 + number,
    )


@scorer(metrics={"style": [mean(), stderr()], "facts": [accuracy()]})
def rubric():
    async def score(state, target):
        number = len(state.output.completion)
        return Score(
            value={"style": number / 64, "facts": "C" if number % 2 else "P"},
            explanation=f"rubric of {number}",
        )

    return score


@scorer(metrics=[mean(), stderr()])
def length():
    async def score(state, target):
        return Score(value=len(state.output.completion) + 0.25, answer=None)

    return score


@scorer(metrics=[accuracy()])
def odd_values():
    """One value of each awkward kind, by the id of the sample."""
    values = {
        "nan": float("nan"),
        "list": [1, 2.5, "x"],
        "text": "maybe",
        "yes": "yes",
        "bool": True,
        "digits": "0.75",
        "none": "N",
    }

    async def score(state, target):
        value = values[str(state.sample_id)]
        return Score(
            value=value,
            answer=f"answer {state.sample_id}",
            reason="grader_failed" if value != value else None,
        )

    return score


@solver
def failing(which: str = "bad"):
    async def solve(state, generate):
        if state.sample_id == which:
            raise ValueError(f"no answer for {which}")
        return state

    return solve


def grid(path: Path) -> None:
    """Epochs, reducers, nested ids, several scorers, message input, metadata, all
    settings."""
    samples = [
        Sample(
            id="q/1",
            input="What is 1+1?",
            target="2",
            metadata={"subject": "sums", "level": 3},
        ),
        Sample(
            id=7,
            target=["Lima", "LIMA"],
            metadata={"subject": "capitals", "level": 4},
            input=[
                ChatMessageSystem(content="Answer shortly."),
                ChatMessageUser(content="Capital of Peru?"),
            ],
        ),
        Sample(
            id="last",
            input="Say nothing.",
            target="nothing",
            metadata={"subject": "odd"},
        ),
    ]
    texts = {
        "q/1": ["2", "It is 2", "three"],
        "7": ["Lima", "Cuzco", "Lima"],
        "last": ["nothing", "hm", "?"],
    }

    outputs = [
        answer(texts[str(item.id)][epoch], 3 * place + epoch + 1)
        for epoch in range(3)
        for place, item in enumerate(samples)
    ]
    task = Task(
        name="grid",
        version="7-b",
        dataset=MemoryDataset(samples, name="grid-data", location="org/grid-data"),
        solver=[system_message("Think of {subject}."), generate()],
        scorer=[match(location="any"), rubric(), length()],
        epochs=Epochs(3, ["mean", "pass_at_2", "max"]),
        config=GenerateConfig(temperature=0.7, top_p=0.9, top_k=40),
        message_limit=21,
        metadata={"campaign": "spring"},
    )
    model = get_model(
        "mockllm/grid-model",
        custom_outputs=outputs,
        revision="rev-5",
        config=GenerateConfig(max_tokens=333, reasoning_effort="high", seed=11),
        base_url="https://api.grid.example/v1",
    )
    run(
        task,
        path,
        model=model,
        tags=["red", "blue"],
        max_samples=1,
        max_connections=1,
        model_args={"revision": "rev-5", "device": "cpu"},
    )


def choices(path: Path) -> None:
    """Multiple choice with letters, shuffled for one sample; several correct letters."""
    samples = [
        Sample(
            id=1, input="Which is red?", choices=["sky", "rose", "grass"], target="B"
        ),
        Sample(
            id=2, input="Which are even?", choices=["2", "3", "4"], target=["A", "C"]
        ),
        Sample(id=3, input="Which is cold?", choices=["fire", "ice"], target="B"),
    ]
    outputs = [
        answer(f"ANSWER: {letter}", place)
        for place, letter in enumerate(["B", "A,C", "A"], 1)
    ]
    task = Task(
        name="letters",
        dataset=MemoryDataset(samples, name="letters"),
        solver=multiple_choice(multiple_correct=True),
        scorer=choice(),
    )
    run(
        task,
        path,
        model=get_model("mockllm/chooser", custom_outputs=outputs),
        max_samples=1,
    )


def judged(path: Path) -> None:
    """A judge by role; its usage is not that of the model."""
    judge = get_model(
        "mockllm/judge-model",
        custom_outputs=[
            answer("GRADE: C", 50),
            answer("GRADE: P", 51),
            answer("no grade", 52),
        ],
    )
    samples = [
        Sample(id=place, input=f"Question {place}?", target=f"truth {place}")
        for place in (1, 2, 3)
    ]
    outputs = [answer(f"claim {place}", place) for place in (1, 2, 3)]
    task = Task(
        name="judged",
        dataset=MemoryDataset(samples, name="judged"),
        solver=generate(),
        scorer=model_graded_qa(partial_credit=True),
    )
    run(
        task,
        path,
        model=get_model("mockllm/writer", custom_outputs=outputs),
        max_samples=1,
        model_roles={"grader": judge},
    )


def odd(path: Path) -> None:
    """Scores of every awkward kind."""
    names = ["nan", "list", "text", "yes", "bool", "digits", "none"]
    samples = [Sample(id=name, input=f"Input {name}", target=name) for name in names]
    task = Task(
        name="odd",
        dataset=MemoryDataset(samples, name="odd"),
        solver=generate(),
        scorer=odd_values(),
    )
    outputs = [answer(f"out {name}", place) for place, name in enumerate(names, 1)]
    run(
        task,
        path,
        model=get_model("mockllm/odd", custom_outputs=outputs),
        max_samples=1,
    )


def faults(folder: Path) -> None:
    """A sample that fails, one that hits a limit, one refused; then the retry of it
    all."""
    samples = [
        Sample(id=name, input=f"Input {name}", target="ok")
        for name in ("good", "bad", "long", "refused")
    ]

    def task() -> Task:
        return Task(
            name="faults",
            dataset=MemoryDataset(samples, name="faults"),
            solver=[failing(os.environ["WHICH"]), looping()],
            scorer=match(),
            message_limit=6,
            fail_on_error=False,
        )

    @solver
    def looping():
        async def solve(state, generate):
            while state.sample_id == "long":
                state = await generate(state)
            return await generate(state)

        return solve

    def model():
        outputs = {
            "Input good": answer("ok", 1),
            "Input refused": answer("no", 9, "content_filter"),
        }
        return get_model(
            "mockllm/shaky",
            memoize=False,
            custom_outputs=lambda messages, *rest: (
                outputs.get(messages[-1].text) or answer("ok", 5)
            ),
        )

    os.environ["WHICH"] = "bad"
    first = run(task(), folder / "faults.eval", model=model(), max_samples=1)
    os.environ["WHICH"] = "nobody"
    with tempfile.TemporaryDirectory() as scratch:
        again = eval(
            task(), model=model(), log_dir=scratch, display="none", max_samples=1
        )[0]
        # a retry keeps the task id and what was done, and gets an id of its own
        again.eval.task_id = first.eval.task_id
        kept = {sample.id: sample for sample in first.samples if sample.error is None}
        again.samples = [kept.get(sample.id, sample) for sample in again.samples]
        write_eval_log(again, folder / "faults_retried.eval")


def run(task: Task, path: Path, **options):
    with tempfile.TemporaryDirectory() as scratch:
        log = eval(task, log_dir=scratch, display="none", **options)[0]
        if log.error:
            raise RuntimeError(log.error.traceback)
        path.unlink(missing_ok=True)
        shutil.copy(log.location.removeprefix("file://"), path)
    return read_eval_log(str(path))


def variants(folder: Path) -> None:
    """The grid in other containers, and with an edited score."""
    log = read_eval_log(str(folder / "grid.eval"))
    plain = log.model_copy(deep=True)
    for sample in plain.samples:  # events make most of a log, and are not read
        sample.events, sample.attachments = [], {}
    write_eval_log(plain, str(folder / "grid.json"))
    with tempfile.TemporaryDirectory() as scratch:
        convert_eval_logs_to_chunked(str(folder / "grid.eval"), scratch)
        (written,) = Path(scratch).rglob("*.eval")
        shutil.copy(written, folder / "grid_chunked.eval")
    edit_score(
        log,
        sample_id="last",
        epoch=2,
        score_name="match",
        edit=ScoreEdit(
            value="C", provenance=ProvenanceData(author="ada", reason="it was right")
        ),
    )
    write_eval_log(log, str(folder / "grid_edited.eval"))


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    grid(folder / "grid.eval")
    choices(folder / "choices.eval")
    judged(folder / "judged.eval")
    odd(folder / "odd.eval")
    faults(folder)
    variants(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
