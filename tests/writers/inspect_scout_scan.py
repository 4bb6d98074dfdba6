"""Writes the scan of ``tests/data/inspect_scout`` with the real package, over two logs
of ``tests/data/inspect``.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install inspect_scout==0.6.1 cp
    tests/writers/inspect_scout_scan.py tests/data/inspect/{grid,faults}.eval /tmp && cd
    /tmp /tmp/venv/bin/python inspect_scout_scan.py FOLDER

Scans hold the paths of those who made them, hence the detour. One scanner for each kind
of value; the judge is the mock model of Inspect.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import mean
from inspect_scout import Result, Transcript, scan, scanner, transcripts_from
from inspect_scout._util.refusal import RefusalError

Scan = Callable[[Any], Awaitable[Result | list[Result]]]


def said(transcript: Transcript) -> str:
    return " ".join(
        message.text for message in transcript.messages if message.role == "assistant"
    )


@scanner(messages="all", metrics=[mean()])
def words() -> Scan:
    async def execute(transcript: Transcript) -> Result:
        return Result(value=len(said(transcript).split()))

    return execute


@scanner(messages="all")
def shape() -> Scan:
    async def execute(transcript: Transcript) -> Result:
        text = said(transcript)
        value: dict[str, Any] = {
            "chars": len(text),
            "has_digit": any(map(str.isdigit, text)),
            "first": text[:1],
        }
        return Result(value=value)

    return execute


@scanner(messages="all")
def hedges(word: str) -> Scan:
    async def execute(transcript: Transcript) -> Result:
        return Result(value=word in said(transcript), label="hedge")

    return execute


@scanner(messages="all")
def letters() -> Scan:
    async def execute(transcript: Transcript) -> list[Result]:
        return [
            Result(value=letter, label="capital")
            for letter in said(transcript)
            if letter.isupper()
        ]

    return execute


@scanner(messages="all")
def doubtful() -> Scan:
    async def execute(transcript: Transcript) -> Result:
        if transcript.task_id == "bad":
            raise ValueError("nothing was said")
        if transcript.task_id == "refused":
            raise RefusalError("I cannot judge this")
        return Result(value=None if transcript.task_id == "long" else "calm")

    return execute


@scanner(messages=["user", "assistant"])
def length() -> Scan:
    async def execute(message: ChatMessage) -> Result:
        return Result(value=len(message.text))

    return execute


@scanner(messages="all", version=2)
def judge() -> Scan:
    async def execute(transcript: Transcript) -> Result:
        model = get_model("mockllm/model", custom_outputs=[answer()], memoize=False)
        output = await model.generate(f"Is this fine? {said(transcript)}")
        return Result(value=output.completion == "yes", answer="yes")

    return execute


def answer() -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", "yes")
    output.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
    return output


def main(folder: Path) -> None:
    scanners = [
        words(),
        shape(),
        ("unsure", hedges(word="hm")),
        letters(),
        doubtful(),
        length(),
        judge(),
    ]
    with tempfile.TemporaryDirectory() as made:
        logs = transcripts_from(["grid.eval", "faults.eval"])
        scan(
            scanners,
            logs,
            scans=made,
            model="mockllm/model",
            max_processes=1,
            display="none",
        )
        (found,) = Path(made).glob("**/scan_id=*")
        shutil.copytree(found, folder / found.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
