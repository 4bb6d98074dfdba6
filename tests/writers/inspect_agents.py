"""Writes ``agents.eval``, ``agents_chunked.eval`` and ``agents.json`` of
``tests/data/inspect`` with the real package.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install inspect-ai==0.3.285 pandas
    pyarrow cp tests/writers/inspect_*.py /tmp && cd /tmp /tmp/venv/bin/python
    inspect_agents.py FOLDER

Calls of tools, each way in which they fail, a limit, a failed sample that was tried
twice, a model that stood in, and a judge that is the evaluated model itself. Says in
the end what Inspect's own tables count of each sample.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from inspect_ai import Task
from inspect_ai.analysis import events_df, messages_df, samples_df
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import ProvenanceData, read_eval_log, write_eval_log
from inspect_ai.log._config_update import ConfigUpdate, ConfigValueChange
from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.model._model_output import ChatCompletionChoice, ModelFallback
from inspect_ai.scorer import includes, model_graded_qa
from inspect_ai.solver import generate, solver, use_tools
from inspect_ai.tool import ToolCall, ToolError, tool
from inspect_ai.util import TokenLimit
from inspect_logs import run

MODEL = "mockllm/agent"
#: What the model says, message for message, and the tools that it calls.
SAID = {
    "plain": ["ok"],
    "two": [
        [("add", {"a": 1, "b": 2}), ("look", {"word": "sun"})],
        [("add", {"a": 3, "b": 4})],
        "7 ok",
    ],
    "errors": [
        [("look", {"word": "lost"})],
        [("nosuch", {})],
        [("add", {"a": "many"})],
        "ok all the same",
    ],
    "loop": [[("add", {"a": 1, "b": 1})]] * 4,
    "crash": [[("look", {"word": "rain"})], "boom"],
    "other": [[("look", {"word": "moon"})], "ok from elsewhere"],
}
JUDGE_TOKENS = 1000


@tool
def add():
    async def execute(a: int, b: int):
        """Add numbers.

        Args:
            a: one
            b: the other
        """
        return str(a + b)

    return execute


@tool
def look():
    async def execute(word: str):
        """Look up a word.

        Args:
            word: the word
        """
        if word == "lost":
            raise ToolError("no such word")
        return f"{word} is found"

    return execute


@solver
def failing():
    async def solve(state, generate):
        if state.sample_id == "crash":
            raise ValueError("broke after two turns")
        return state

    return solve


def output(said, place: int, tokens: int, name: str) -> ModelOutput:
    calls = [
        ToolCall(id=f"{name}_{place}_{index}", function=function, arguments=arguments)
        for index, (function, arguments) in enumerate(
            said if isinstance(said, list) else []
        )
    ]
    message = ChatMessageAssistant(
        content="" if calls else said,
        tool_calls=calls or None,
        model="mock-agent",
        source="generate",
    )
    return ModelOutput(
        model="mock-agent",
        choices=[
            ChatCompletionChoice(
                message=message, stop_reason="tool_calls" if calls else "stop"
            )
        ],
        usage=ModelUsage(
            input_tokens=10 + tokens,
            output_tokens=3 + tokens,
            total_tokens=13 + 2 * tokens,
            input_tokens_cache_read=2 + tokens,
            reasoning_tokens=1 + tokens,
            total_cost=0.5 + tokens,
        ),
        fallback=ModelFallback(model=MODEL, fallback_model="mockllm/stand-in")
        if name == "other" and place
        else None,
        time=1.5,
    )


def answers(messages, *rest) -> ModelOutput:
    asked = next(message.text for message in messages if message.role == "user")
    name = asked.partition(" ")[0]
    if name not in SAID:
        return output("GRADE: C", 0, JUDGE_TOKENS, "judge")
    place = sum(message.role == "assistant" for message in messages)
    return output(SAID[name][place], place, 0, name)


def agents(path: Path) -> None:
    def model():
        return get_model(MODEL, memoize=False, custom_outputs=answers)

    task = Task(
        name="agents",
        dataset=MemoryDataset(
            [Sample(id=name, input=f"{name} please", target="ok") for name in SAID],
            name="agents",
        ),
        solver=[use_tools(add(), look()), generate(tool_calls="loop"), failing()],
        scorer=[includes(), model_graded_qa()],
        message_limit=9,
        token_limit=TokenLimit(tokens=5000, type="output"),
        approval="auto",
        fail_on_error=False,
    )
    run(
        task,
        path,
        model=model(),
        model_roles={"grader": model()},
        max_samples=1,
        retry_on_error=1,
    )


def variants(folder: Path) -> None:
    """In chunks; and rid of its events, after a limit was changed during the run."""
    with tempfile.TemporaryDirectory() as scratch:
        convert_eval_logs_to_chunked(str(folder / "agents.eval"), scratch)
        (written,) = Path(scratch).rglob("*.eval")
        shutil.copy(written, folder / "agents_chunked.eval")
    log = read_eval_log(str(folder / "agents.eval"))
    for sample in log.samples:
        sample.events, sample.attachments, sample.events_data, sample.error_retries = (
            [],
            {},
            None,
            None,
        )
        if sample.error:  # tracebacks make most of a log
            sample.error.traceback = sample.error.traceback_ansi = ""
    changes = [
        ConfigValueChange(config="eval", name="message_limit", value=12, previous=9),
        ConfigValueChange(config="eval", name="max_samples", value=4),
    ]
    log.config_updates = [
        ConfigUpdate(
            changes=changes, scope="task", provenance=ProvenanceData(author="ada")
        )
    ]
    write_eval_log(log, str(folder / "agents.json"))


def counts(path: Path) -> None:
    """What Inspect's tables count: messages and turns with those of the judge, since
    they gather all models' events."""
    messages, events, samples = (
        read(str(path), quiet=True) for read in (messages_df, events_df, samples_df)
    )
    for sample in samples.itertuples():
        own = messages[messages.sample_id == sample.sample_id]
        results = own[own.role == "tool"]
        print(
            sample.id,
            {
                "messages": len(own),
                "turns": int(
                    ((own.role == "assistant") & (own.source != "input")).sum()
                ),
                "turn_count": sample.turn_count,
                "results": results.tool_call_function.value_counts().to_dict(),
                "errors": results[results.tool_call_error.notna()]
                .tool_call_function.value_counts()
                .to_dict(),
                "events": int((events.sample_id == sample.sample_id).sum()),
                "limit": sample.limit,
                "retries": sample.retries,
            },
        )


if __name__ == "__main__":
    target = Path(sys.argv[1])
    agents(target / "agents.eval")
    variants(target)
    counts(target / "agents.eval")
