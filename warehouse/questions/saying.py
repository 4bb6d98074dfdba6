"""Messages in the words of Python, for whoever calls a method; how they are said is
loaded when there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.questions.question import Question


def in_python_words(text: str) -> str:
    """A message with methods and arguments in place of commands and options."""
    if "warehouse " not in text and "--" not in text:
        return text
    from warehouse.questions import python_words

    return python_words.in_python_words(text)


@contextmanager
def saying_methods(question: type[Question] | None = None) -> Iterator[None]:
    """What is raised below says methods and arguments.

    Args:
        question: the one that was asked, whose options are meant first.
    """
    try:
        yield
    except WarehouseError as error:
        if error.args and isinstance(error.args[0], str):
            from warehouse.questions import python_words

            said = python_words.in_python_words(error.args[0], question)
            error.args = (said, *error.args[1:])
        raise
