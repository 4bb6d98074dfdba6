"""How results become charts: the room that draws them is told of by the face, which may know both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The function of a result that draws it, if there is one.
PLOTTERS: list[Callable[[Any], Any]] = []


def draw_with(plotter: Callable[[Any], Any]) -> None:
    """Let results be drawn by a function."""
    PLOTTERS[:] = [plotter]
