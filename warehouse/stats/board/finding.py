"""What is found wrong, doubtful or worth knowing of a board."""

from __future__ import annotations

from dataclasses import dataclass

#: Grades, in the order of print.
WRONG, CHECK, NOTE = "wrong", "check", "note"
GRADES = (WRONG, CHECK, NOTE)


@dataclass(frozen=True)
class Finding:
    """One thing found: of an entry by a rule, or of several at once."""

    grade: str  #: ``wrong``, ``check`` or ``note``.
    rule: str  #: ``B1`` to ``B16``.
    entries: tuple[int, ...]  #: numbers of the rows; empty where it is of a column.
    column: str  #: name of the column; empty where it is of rows.
    text: str  #: what was found, to be read behind the name of the entry.
    score: float = 0.0  #: how far it is beyond what is allowed; larger is stronger.
    printed: str = ""  #: the text of the cell.
    expected: float | None = None  #: what the figure would have to be.
    is_suspicion: bool = False  #: whether it is only unlikely; those are limited.
    #: further entries of the same kind, which the text does not name.
    n_more: int = 0
