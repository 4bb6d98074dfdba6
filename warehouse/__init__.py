"""A results warehouse for evaluations of language models.

>>> import warehouse
>>> print(warehouse.read("results/").leaderboard())  # doctest: +SKIP
>>> store = warehouse.connect("duckdb:///warehouse.duckdb")  # doctest: +SKIP
>>> print(store.leaderboard("gsm8k"))  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["ReadDumps", "Warehouse", "__version__", "board", "connect", "read"]

if TYPE_CHECKING:
    from warehouse.api import ReadDumps, Warehouse, connect, read
    from warehouse.boards.asking import board


def __dir__() -> list[str]:
    """What a user calls, the lazy names too."""
    return __all__


def __getattr__(name: str) -> Any:
    """Load the public face when it is used: ``import warehouse`` alone stays cheap."""
    if name in ("ReadDumps", "Warehouse", "connect", "read"):
        from warehouse import api

        return getattr(api, name)
    if name == "board":
        from warehouse.boards.asking import board

        return board
    raise AttributeError(f"module 'warehouse' has no attribute '{name}'")
