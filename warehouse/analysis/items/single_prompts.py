"""Single prompts of a benchmark to look at: the hardest, those against the rest, and
keys that may be wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.analysis.audit.answer import suspects_of
from warehouse.analysis.audit.read import StoredAnswers
from warehouse.analysis.audit.rows import AuditRow
from warehouse.analysis.pairs.answer import comparable
from warehouse.analysis.report_data.read import or_why
from warehouse.analysis.selection.score_matrix import score_table
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.stats.items.discrimination import discrimination
from warehouse.stats.labels.wrong_keys import THRESHOLD

#: Prompts of each kind.
MOST_HARD = 5


@dataclass(frozen=True)
class HardPrompts:
    """Findings of `items` on single prompts, in short."""

    n_prompts: int  #: prompts that all conditions have a score of.
    n_models: int  #: conditions.
    n_constant: int  #: prompts with one score for all.
    #: prompts on which conditions do the worse, the better they do on the rest (false
    #: ones at most 5 %, Benjamini and Hochberg).
    n_negative: int
    #: ids and mean scores of the hardest, at most 5.
    hardest: tuple[tuple[int, float], ...]
    #: ids and correlations with the rest of the most negative, at most 5.
    negative: tuple[tuple[int, float], ...]

    @property
    def prompts(self) -> tuple[int, ...]:
        """Ids of all that are named."""
        return tuple(prompt for prompt, _ in (*self.hardest, *self.negative))


def hard_prompts(scores: BenchmarkScores) -> HardPrompts | None:
    """The largest group of conditions on a benchmark; None for fewer than two of
    either."""
    groups = [comparable(members, scores) for members in scores.groups().values()]
    members = max(groups, key=len, default=[])
    if len(members) < 2 or scores.metric.link != "identity":
        return None
    table = score_table(members, scores.clusters)
    complete = ~np.isnan(table.values).any(axis=1)
    values = table.values[complete]
    ids = table.prompts[complete]
    if len(ids) < 2:
        return None
    sign = 1.0
    if scores.metric.higher_is_better is False:
        sign = -1.0
    correlations = discrimination(sign * values.T)
    means = values.mean(axis=1)
    hardest = np.lexsort([ids, sign * means])[:MOST_HARD]
    against = np.flatnonzero(correlations.is_negative)
    against = against[np.lexsort([ids[against], correlations.q_negative[against]])]
    return HardPrompts(
        n_prompts=len(ids),
        n_models=len(members),
        n_constant=int(correlations.is_constant.sum()),
        n_negative=len(against),
        hardest=tuple((int(ids[index]), float(means[index])) for index in hardest),
        negative=tuple(
            (int(ids[index]), float(correlations.corrected[index]))
            for index in against[:MOST_HARD]
        ),
    )


#: Keys that are shown.
MOST_SUSPECTS = 5


@dataclass(frozen=True)
class Suspects:
    """Findings of `audit` on a benchmark, in short."""

    n_judged: int  #: prompts whose key can be judged.
    n_models: int  #: models that were heard.
    n_listed: int  #: keys that are suspect.
    threshold: float  #: posterior from which on a key is suspect.
    rows: tuple[AuditRow, ...]  #: the most suspect, at most 5.


def suspects(stored: StoredAnswers) -> Suspects | None:
    """The keys of a benchmark that its models' answers speak against; None where keys
    cannot be judged."""
    found, _ = or_why(lambda: suspects_of(stored, MOST_SUSPECTS))
    if found is None:
        return None
    judgement, n_listed, rows = found
    n_judged = len(judgement.posterior) - judgement.n_refused
    return Suspects(n_judged, len(judgement.models), n_listed, THRESHOLD, rows)
