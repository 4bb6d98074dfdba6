"""What samples count as that a source could not score: missing, or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from warehouse.errors import MisuseError
from warehouse.records.clock import day_in_words
from warehouse.records.dump import SCORE_STATUSES

#: What a status counts as: no score at all; the worst score that there is; the number
#: that the source stored.
MISSING, WRONG, KEPT = "missing", "wrong", "kept"
#: The status of a sample with a score of its own.
_SCORED = "scored"
#: Statuses that a policy speaks of.
STATUSES = tuple(status for status in SCORE_STATUSES if status != _SCORED)
#: The status whose number sources store, although nothing was answered.
_NO_ANSWER = "no_answer"
#: What holds where nothing is said.
_USUAL = dict.fromkeys(STATUSES, MISSING) | {_NO_ANSWER: KEPT}
#: Policies that have a name. ``attempts`` is for agents: what they did not finish, they
#: did not solve; an error of the machinery says nothing of them.
PRESETS: Mapping[str, Mapping[str, str]] = {
    "missing": _USUAL,
    "attempts": _USUAL | dict.fromkeys(("limit", _NO_ANSWER, "refused"), WRONG),
    "all-wrong": dict.fromkeys(STATUSES, WRONG),
}


@dataclass(frozen=True)
class Policy:
    """What each status counts as."""

    name: str  #: of the preset, or as it was given.
    statuses: Mapping[str, str]  #: what each counts as: missing, wrong, kept.
    #: score of a wrong sample, where the metric has no worst one; None: none is said.
    wrong_value: float | None = None

    @classmethod
    def of(cls, text: str) -> Policy:
        """A policy by its name, or by what statuses count as: ``limit=wrong,
        refused=wrong``.

        Raises:
            MisuseError: no such name, status, or meaning.
        """
        if text in PRESETS:
            return cls(text, PRESETS[text])
        if "=" not in text:
            known = ", ".join(PRESETS)
            raise MisuseError(
                f"policy is one of {known}, or STATUS=wrong,...; found {text!r}"
            )
        statuses = dict(_USUAL)
        for part in text.split(","):
            status, _, meaning = part.strip().partition("=")
            if status not in STATUSES:
                raise MisuseError(
                    f"policy: {status!r} is no status; there are: {', '.join(STATUSES)}"
                )
            allowed = (MISSING, WRONG, *((KEPT,) if status == _NO_ANSWER else ()))
            if meaning not in allowed:
                raise MisuseError(
                    f"policy: {status} counts as {' or '.join(allowed)}; found "
                    f"{meaning!r}"
                )
            statuses[status] = meaning
        return cls(text, statuses)

    @property
    def is_usual(self) -> bool:
        """True where it says what holds without one."""
        return dict(self.statuses) == _USUAL

    @property
    def digest(self) -> str:
        """sha256 of what it says, whatever it is called: 16 hexadecimal digits."""
        from warehouse.records.canonical_json import canonical_digest

        said = {"statuses": dict(self.statuses), "wrong_value": self.wrong_value}
        return canonical_digest(said)[:16]

    @property
    def wrong(self) -> tuple[str, ...]:
        """Statuses that count as wrong."""
        return tuple(name for name in STATUSES if self.statuses[name] == WRONG)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Statuses whose stored number does not count."""
        is_dropped = self.statuses[_NO_ANSWER] == MISSING
        return (_NO_ANSWER,) if is_dropped else ()

    def __str__(self) -> str:
        words = {
            "limit": "limits",
            "refused": "refusals",
            "error": "errors and absent prompts",
            _NO_ANSWER: "missing answers",
            "not_scalar": "scores that are no numbers",
        }
        parts = []
        if self.wrong:
            named = [words[status] for status in self.wrong]
            listed = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
            parts.append(f"{listed} count as wrong")
        if self.dropped:
            parts.append("missing answers do not count")
        return "; ".join(parts) or "unscored samples are missing"


@dataclass(frozen=True)
class StoredPolicy:
    """The policy of a benchmark, or of one of its metrics."""

    policy: Policy
    benchmark: str  #: its name.
    declared_at: datetime  #: since when, UTC.

    @property
    def since(self) -> str:
        """Its day in words."""
        return day_in_words(self.declared_at)


@dataclass(frozen=True)
class PolicyRules:
    """What unscored samples count as for whoever asks a store."""

    asked: Policy | None = None  #: by the question, for all that it reads.
    #: by benchmark and metric, as ids: those that are stored.
    stored: Mapping[tuple[int, int], StoredPolicy] = field(default_factory=dict)

    def of(self, benchmark_id: int, metric_id: int) -> Policy | None:
        """The policy of a metric of a benchmark; None: unscored samples are missing."""
        stored = self.stored.get((benchmark_id, metric_id))
        if self.asked is None:
            return stored.policy if stored is not None else None
        if stored is None:
            return self.asked
        return replace(self.asked, wrong_value=stored.policy.wrong_value)
