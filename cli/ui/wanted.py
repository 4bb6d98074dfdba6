"""Commands by what somebody wants to do, in their own words: ``warehouse help undo``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..command_table import COMMANDS

#: Commands that are listed.
_MOST = 5
#: What people call a thing that the sentences of commands call otherwise.
_WORDS = {
    "fix forget": "undo delete remove drop erase wrong import ingest unload",
    "fix invalidate": "undo exclude hide broken bad run restore",
    "fix alias": "rename merge same name spelling model benchmark",
    "fix settings": "temperature ignore seed same condition repeats",
    "history": "happened since last week yesterday earlier before changed over time "
    "trend",
    "fix policy": "errors timeouts timeout failures crashed limits refusals missing unscored "
    "empty count counted wrong zero",
    "fix cluster": "passage template group",
    "ingest": "import load read add results logs files folder format formats importers "
    "lm-eval inspect helm csv json jsonl excel xlsx huggingface wandb",
    "mapping": "csv excel xlsx own format formats table columns unknown",
    "leaderboard": "best rank ranking winner score latex paper table category subject "
    "language slice tie top error bar bars interval uncertainty confidence compare models wins first who-wins",
    "compare": "better worse difference significant significance noise latex tie open "
    "verdict category flips model models than versus vs two pair changed versions between prompts differ differs",
    "gate": "replace release regression worse candidate safe switch cheaper",
    "power": "many questions prompts samples needed sample size enough how",
    "noise variance": "temperature samples generations pass@k k draws many answers "
    "noisy random variation",
    "training seeds": "seed seeds noise random",
    "training curves": "checkpoints steps curve learning",
    "training decide": "data mix recipe better seeds",
    "frontier": "cost price cheap money dollars tokens quality per task token "
    "cheapest affordable",
    "records": "record records progress sota state-of-the-art time trend dates breakthrough",
    "fix prices": "cost price dollars tokens",
    "items audit": "wrong label labels key keys error errors mislabelled answer",
    "items difficulty": "hard easy questions prompts discrimination saturated "
    "saturation ceiling headroom",
    "query": "sql select pandas dataframe python csv export excel paper published "
    "reported different recomputed mismatch why",
    "store export": "parquet pandas share csv backup excel tables files",
    "store publish": "share copy team read-only backup colleague others",
    "store init": "database create new team",
    "report": "html page share picture plot chart figure",
    "serve": "web browser page dashboard site",
    "show": "transcript response sample prompt conversation answer answered said wrote",
    "text grep": "search find contains regex transcript",
    "text duplicates": "contamination similar same duplicate",
    "prefer": "votes arena elo preference pairwise bradley-terry",
    "judge agreement": "judge llm human people agree kappa",
    "subset plan": "fewer cheaper smaller part sample budget",
    "schedule": "cron nightly automatic watch alert",
    "refresh": "alert history stored update",
    "claim": "reproduce verify check sign paper",
    "list runs": "files seeds when which runs find",
    "answers": "f1 precision recall confusion classification",
}
#: What most people want most days, and how much more a word counts for it.
_DAILY = frozenset("ingest leaderboard compare pairs gate power show report".split())
_MORE_FOR_DAILY = 1.25
#: Words that say nothing of what is wanted.
_EMPTY = frozenset(
    "a an and are as at be by can do does for from get give have how i in is it me my "
    "of on or show so tell that the this to two us want was we what when which who why "
    "will with you your".split()
)


def wanted(words: Sequence[str]) -> list[str]:
    """Commands that words of a wish fit, the best first; none where nothing fits.

    A word counts the more, the fewer commands it fits.
    """
    scores: dict[str, float] = {}
    for word in dict.fromkeys(_split(" ".join(words))):
        if word in _EMPTY:
            continue
        fitting = _fitting(_stem(word))
        for name, weight in fitting.items():
            if name in _DAILY:
                weight *= _MORE_FOR_DAILY
            scores[name] = scores.get(name, 0.0) + weight / len(fitting)
    ordered = sorted(scores, key=lambda name: -scores[name])
    return ordered[:_MOST]


def _fitting(stem: str) -> dict[str, float]:
    """The commands that a word fits: by what they are called more than by what is said
    of them."""
    found: dict[str, float] = {}
    for name, entry in COMMANDS.items():
        if stem in map(_stem, _split(f"{name} {_WORDS.get(name, '')}")):
            found[name] = 2
        elif stem in map(_stem, _split(entry.sentence)):
            found[name] = 1
    return found


def _split(text: str) -> list[str]:
    return re.findall(r"[a-z0-9@-]+", text.lower())


def _stem(word: str) -> str:
    """A word without its ending, so that prompts are found by prompt."""
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word.removesuffix(ending)
    return word
