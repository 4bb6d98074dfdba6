"""``variance``: what programs get of draws, pass@k and seeds, and what is refused (for
people: `test_golden.py`)."""

from __future__ import annotations

from tests.support.cli import Caller


def test_mistakes_are_misuse(run: Caller, url: str) -> None:
    run("noise", "variance", "quizz", db=url).fails(2, "quizz", "benchmark")
    run("noise", "variance", "quiz", "--pass-at", "0", db=url).fails(2, "below 1")
    run("noise", "variance", "quiz", "--pass-at", "two", db=url).fails(2, "two")
    run("noise", "variance", "quiz", "--seeds", "--pass-at", "1", db=url).fails(
        2, "--pass-at does not go with --seeds"
    )
    run("noise", "variance", "quiz", "--estimand", "prompts-fixed", db=url).fails(
        2, "--pass-at"
    )
    run("noise", "variance", "quiz", "--seeds", db=url).fails(2, "two training seeds")
    run("noise", "variance", db=url).fails(2, "RUN|BENCHMARK")
