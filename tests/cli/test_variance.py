"""``variance``: what programs get of draws, pass@k and seeds, and what is refused (for
people: `test_golden.py`)."""

from __future__ import annotations

from tests.support.cli import Caller


def test_mistakes_are_misuse(run: Caller, url: str) -> None:
    run("variance", "quizz", db=url).fails(2, "quizz", "benchmark")
    run("variance", "quiz", "--pass-at", "0", db=url).fails(2, "below 1")
    run("variance", "quiz", "--pass-at", "two", db=url).fails(2, "two")
    run("variance", "quiz", "--seeds", "--pass-at", "1", db=url).fails(
        2, "--pass-at does not go with --seeds"
    )
    run("variance", "quiz", "--estimand", "prompts-fixed", db=url).fails(2, "--pass-at")
    run("variance", "quiz", "--seeds", db=url).fails(2, "two training seeds")
    run("variance", db=url).fails(2, "RUN|BENCHMARK")
