"""The question what a run, or a prompt of it, holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Show(Question):
    """A run, or one prompt of it with every response and score, or a prompt in all
    runs.

    Raises:
        MisuseError: no such run or prompt, or several.
    """

    NAME = "show"

    run: Annotated[
        str | int,
        Option(
            "``run:ID``, an id, or a reference that means one run; ``prompt:ID`` for a "
            "prompt in all runs, with its id in the store.",
            "run:ID|prompt:ID",
        ),
    ]
    prompt: Annotated[
        str | int | None,
        Option(
            "``prompt:ID``, the tool's id of the prompt, its id in the store, its key, "
            "or at least six characters that its key begins with; None for the run "
            "with all prompts, in the order of the benchmark.",
            is_argument=True,
        ),
    ] = None
