"""What prompts ask: vectors of their texts, what is near to what, and what generations
say alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """What turns texts into vectors.

    Attributes:
        name: under which its vectors are stored.
        revision: which version of it; vectors of two revisions are kept apart. May be
            empty.
        dimension: length of a vector.
        max_length: tokens that it reads of a text; None: any number.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_length(self) -> int | None: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors, shape (n, dimension); the same text gives the same vector."""
        ...

    def too_long(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the texts are longer than ``max_length``, shape (n,)."""
        ...


@runtime_checkable
class Entailment(Protocol):
    """What says whether a text follows from another.

    Attributes:
        name: what it is called.
        revision: which version of it; its answers are kept under both.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...

    def entails(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.bool_]:
        """For each pair whether the hypothesis follows from the premise, shape (n,)."""
        ...

    def too_long(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.bool_]:
        """Which of the pairs are longer than the model reads, shape (n,)."""
        ...


@runtime_checkable
class Steps(Protocol):
    """Receives how far the work has come."""

    def start(self, label: str, total: int) -> None:
        """``total`` steps are to be done."""
        ...

    def advance(self, steps: int) -> None:
        """So many more are done."""
        ...


#: The part of a prompt that is its question, and texts that a model reads at a time.
PROMPT, BATCH = "prompt", 32
