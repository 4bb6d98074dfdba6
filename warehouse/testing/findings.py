"""What a proof has tried, and what it has found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Findings:
    """Grows while a part is tried."""

    part: str  #: what is proven, for the message.
    tried: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str, found: str) -> bool:
        """Count one try; keep what was found where it does not hold.

        Args:
            holds: whether it is as it should be.
            what: the name of what is tried.
            found: what is wrong, where it does not hold.
        """
        self.tried[what] += 1
        if not holds:
            self.wrong.append(f"{what}: {found}")
        return holds

    def leave_out(self, what: str) -> None:
        """Something could not be tried."""
        self.left_out.append(what)

    def result(self) -> Checked:
        """What was tried, if nothing is wrong.

        Raises:
            AssertionError: names all that is wrong.
        """
        if self.wrong:
            raise AssertionError(
                f"{self.part}: {len(self.wrong)} wrong\n"
                + "\n".join(f"- {line}" for line in self.wrong)
            )
        return Checked(self.part, dict(self.tried), tuple(self.left_out))


@dataclass(frozen=True)
class Checked:
    """What was tried of a part, and held."""

    part: str  #: what was proven.
    tried: dict[str, int]  #: how often, by what was tried.
    left_out: tuple[str, ...]  #: what could not be tried, with the reason.

    def __str__(self) -> str:
        """A line for each kind of trial."""
        lines = [f"{self.part}: {sum(self.tried.values())} trials, nothing wrong"]
        lines += [f"  {count:4} {what}" for what, count in self.tried.items()]
        lines += [f"  not tried: {what}" for what in self.left_out]
        return "\n".join(lines)
