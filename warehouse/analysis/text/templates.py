"""The words that all prompts of a benchmark begin and end with: taken off before texts are embedded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.analysis.items.excerpts import shared_words
from warehouse.records.hashing import fingerprint


@dataclass(frozen=True)
class Template:
    """Words around what each prompt asks; none where the prompts share none.

    Attributes:
        begin: words that every prompt begins with.
        end: words that every prompt ends with.
    """

    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells this template from others; empty for none."""
        return fingerprint(" ".join(self.begin), " ".join(self.end)) if self.n_words else ""

    @property
    def n_words(self) -> int:
        """Words in all."""
        return len(self.begin) + len(self.end)

    def own(self, text: str) -> str:
        """A text without the template; unchanged where it does not have it."""
        words = text.split()
        n = len(words)
        begins = tuple(words[: len(self.begin)]) == self.begin
        if not begins or tuple(words[n - len(self.end) :]) != self.end or n <= self.n_words:
            return text
        rest = text.split(maxsplit=len(self.begin))[-1]
        return rest.rsplit(maxsplit=len(self.end))[0] if self.end else rest


def find_template(texts: Iterable[str]) -> Template:
    """The template of some prompts: at least six words that all begin or end with.

    Each prompt keeps a word of its own at least. Fewer than three texts have none.

    Args:
        texts: of all prompts of a benchmark.
    """
    known = {tuple(text.split()) for text in texts}
    known.discard(())
    begin, end = shared_words(known, kept=1)
    words = next(iter(known), ())
    return Template(words[:begin], words[len(words) - end :])
