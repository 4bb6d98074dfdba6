"""Writes the episodes of ``tests/data/verifiers`` with the models of the real package.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install verifiers==0.4.0
    /tmp/venv/bin/python tests/writers/verifiers_episodes.py tests/data/verifiers

Two tasks, asked twice, at two checkpoints of one training. Of the second task the first
try ends with an error of the provider, before anything was scored; the second ends at
the limit of turns, where one reward was not scored.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from verifiers.v1.configs.agent import WireAgentConfig
from verifiers.v1.episode import EnvInfo, Episode, EvalWorkInfo, GroupInfo, TrainRunInfo
from verifiers.v1.graph import MessageNode
from verifiers.v1.state import State
from verifiers.v1.task import WireTaskData
from verifiers.v1.trace import (
    AgentInfo,
    AgentSpan,
    Error,
    ModelCall,
    Reward,
    TimeSpan,
    Timing,
    Trace,
    TraceTask,
    VersionInfo,
)
from verifiers.v1.types import (
    AssistantMessage,
    SamplingConfig,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)

START = 1_795_313_139.0
QUESTIONS = ("What is 2 + 3?", "What is 4 + 7?")
WireEpisode = Episode[WireTaskData, State, WireAgentConfig]
WireTrace = Trace[WireTaskData, State, WireAgentConfig]


def task(place: int) -> TraceTask[WireTaskData]:
    answer = ("5", "11")[place]
    data = WireTaskData(
        idx=place, prompt=QUESTIONS[place], system_prompt="Use the tool.", answer=answer
    )
    return TraceTask(
        type="AdderTask", data=data, key=f"hash-{place}", hash=f"hash-{place}"
    )


def nodes(place: int, reply: str) -> list[MessageNode]:
    """A question, a call of a tool, and two branches: the first was compacted away."""
    call = ToolCall(id="call_1", name="add", arguments='{"a": 2}')
    messages = (
        (None, UserMessage(content=QUESTIONS[place]), False),
        (0, AssistantMessage(content=None, tool_calls=[call]), True),
        (1, ToolMessage(tool_call_id="call_1", content="5", name="add"), False),
        (2, AssistantMessage(content="a branch that was left"), True),
        (2, AssistantMessage(content=reply, reasoning_content="easy"), True),
    )
    return [
        MessageNode(
            parent=parent,
            message=message,
            sampled=sampled,
            timestamp=START,
            token_ids=[1, 2],
        )
        for parent, message, sampled in messages
    ]


def trace(
    place: int, number: int, rewards: dict[str, Reward | None], **more: Any
) -> Any:
    begun = START + number
    config = WireAgentConfig.model_validate(
        {
            "model": "org/tiny",
            "max_turns": 4,
            "harness": {"id": "bash"},
            "runtime": {"type": "subprocess"},
        }
    )
    config.sampling = SamplingConfig(temperature=0.5, max_tokens=64)
    usage = Usage(
        prompt_tokens=10,
        completion_tokens=4,
        cached_input_tokens=6,
        reasoning_tokens=1,
        cost=0.25,
    )
    spent = TimeSpan(start=begun, end=begun + 1)
    return WireTrace(
        id=f"{number:032x}",
        verifiers=VersionInfo(version="0.4.0", commit="abc123"),
        task=task(place),
        agent=AgentInfo(config=config, name="solver"),
        nodes=nodes(place, f"It is {place}."),
        calls=[
            ModelCall(
                node=n, model="org/tiny", finish_reason="stop", usage=usage, time=spent
            )
            for n in (1, 4)
        ],
        rewards=rewards,
        metrics={"num_tool_calls": 1.0, "length": 2.5},
        timing=Timing(start=begun, agent=AgentSpan(start=begun, end=begun + 1.5)),
        is_completed=True,
        **more,
    )


def episodes(step: int) -> list[Any]:
    right = {"correct": Reward(score=1.0), "short": Reward(score=0.5, weight=0.2)}
    wrong = {
        "correct": Reward(score=float(step > 50)),
        "short": Reward(score=0.5, weight=0.2),
    }
    error = Error(
        type="ProviderError", message="503 from the provider", status_code=503
    )
    first = step * 10
    made = [
        trace(0, first, right, ok=True, stop_condition="agent_completed"),
        trace(0, first + 1, wrong, ok=True, stop_condition="agent_completed"),
        trace(
            1,
            first + 2,
            {"correct": None, "short": None},
            stop_condition="provider_error",
            errors=[error],
        ),
        trace(
            1,
            first + 3,
            {"correct": Reward(score=1.0), "short": None},
            ok=True,
            stop_condition="max_turns",
        ),
    ]
    made[2].metrics = {"num_tool_calls": None, "length": None}
    return [
        WireEpisode(
            id=f"{1000 + first + number:032x}",
            env=EnvInfo(id="adder", name="adder-eval"),
            task=item.task,
            group=GroupInfo(id=f"group-{number // 2}"),
            run=TrainRunInfo(id="run-7", work=EvalWorkInfo(step=step)),
            ok=item.ok,
            traces=[item],
        )
        for number, item in enumerate(made)
    ]


def main() -> None:
    folder = Path(sys.argv[1]) / "v1" / "adder--org--tiny--bash--0a1b2c3d"
    (folder / "configs" / "resolved").mkdir(parents=True, exist_ok=True)
    rows = [episode.to_record() for step in (40, 80) for episode in episodes(step)]
    (folder / "traces.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    config = {
        "model": "org/tiny",
        "num_rollouts": 2,
        "select": {"limit": 2},
        "sampling": {"top_p": 0.9},
    }
    (folder / "configs" / "resolved" / "eval.json").write_text(
        json.dumps(config, indent=2)
    )


if __name__ == "__main__":
    main()
