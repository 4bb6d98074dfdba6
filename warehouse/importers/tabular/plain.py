"""Reading a table without a mapping: what its score columns hold decides how they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from warehouse.importers.tabular.columns import as_list, encode
from warehouse.importers.tabular.expressions import Recode
from warehouse.importers.tabular.mapping import TabularMapping
from warehouse.importers.tabular.score_values import ScoreValues
from warehouse.importers.tabular.usual_names import OF_TRUTH, Guess, path_of
from warehouse.importers.tabular.values import text_of
from warehouse.importers.tabular.view import View

_HOW = "--higher-is-better or --lower-is-better"


@dataclass
class PlainTable:
    """What is learnt of a table while its runs are surveyed.

    Args:
        columns: which column is what.
        stated: whether higher is better, where the user said it.
        delimiter: what parts the cells; a comma where nothing does.
    """

    columns: Guess
    stated: bool | None = None
    delimiter: str = ","
    _values: dict[tuple[str, str], ScoreValues] = field(default_factory=dict)

    def paths(self) -> set[str]:
        """Field paths that have to be read for that."""
        columns = {column for _, column in self.columns.scores}
        return {path_of(column) for column in columns | {self.columns.metric} if column}

    def learn(self, view: View) -> None:
        """Take in some rows."""
        for metric, column in self.columns.scores:
            values = view.column(path_of(column))
            if metric:
                self._of(metric, column).learn(values, view.size)
            else:
                self._learn_named(view, column, as_list(values, view.size))

    def settled(self, mapping: TabularMapping) -> TabularMapping:
        """The mapping with what the values tell: words as numbers, directions of metrics."""
        recodes = {path_of(column): Recode(**_frozen(keys)) for column, (keys, _) in self._readings().items() if keys}
        variants = tuple(
            replace(
                variant,
                scores=tuple(
                    replace(rule, value=replace(rule.value, recode=recodes[path]))
                    if (path := next(rule.value.paths(), "")) in recodes
                    else rule
                    for rule in variant.scores
                ),
            )
            for variant in mapping.variants
        )
        return replace(mapping, variants=variants)

    def metrics(self) -> dict[str, dict[str, Any]]:
        """What is known of metrics by their names and values."""
        if self.stated is not None:
            return {}
        return {name: {"kind": "binary", "higher_is_better": True} for name in self._truths()}

    def notes(self, name: str) -> Iterator[str]:
        """What the owner of the table should know.

        Args:
            name: the file's name.
        """
        renamed = [f"{column} as {field}" for field, column in self.columns.renamed.items()]
        if renamed:
            yield f"columns taken by their usual names: {', '.join(renamed)}"
        if self.columns.unused:
            yield (
                f"columns not used: {', '.join(self.columns.unused)}; `warehouse mapping {name}` "
                "writes a mapping that can use them"
            )
        for column, (_, said) in self._readings().items():
            if said:
                yield f"{column}: {said}"
        if self.stated is None:
            yield from self._directions()

    def _directions(self) -> Iterator[str]:
        truths = self._truths()
        if truths:
            yield (f"only 0 and 1 in {', '.join(truths)}: taken as higher is better; --lower-is-better says otherwise")
        open_ones = [name for name in self._by_metric() if name not in truths]
        if open_ones:
            yield f"whether a higher {', '.join(open_ones)} is better is not known: say {_HOW}"

    def _of(self, metric: str, column: str) -> ScoreValues:
        return self._values.setdefault((metric, column), ScoreValues())

    def _learn_named(self, view: View, column: str, values: list[Any]) -> None:
        codes, names = encode(view.column(path_of(self.columns.metric)), view.size)
        for code, name in enumerate(names):
            if name is None:
                continue  # the row is rejected for it
            rows = np.flatnonzero(codes == code).tolist()
            chosen = [values[row] for row in rows]
            self._of(str(text_of(name)), column).learn(chosen, len(chosen))

    def _readings(self) -> dict[str, tuple[dict[str, Any], str]]:
        """How each column of scores is read; a column with several metrics as it stands."""
        if not all(metric for metric, _ in self.columns.scores):
            return {}
        return {column: values.reading(self.delimiter) for (_, column), values in self._values.items()}

    def _by_metric(self) -> dict[str, ScoreValues]:
        return {metric: values for (metric, _), values in sorted(self._values.items())}

    def _truths(self) -> list[str]:
        """Metrics whose values are right or wrong, and whose name says which is which."""
        found = self._by_metric().items()
        return [name for name, values in found if name in OF_TRUTH and values.is_truth]


def _frozen(keys: dict[str, Any]) -> dict[str, Any]:
    """The keys of an expression as :class:`Recode` takes them."""
    found = dict(keys)
    if "null" in found:
        found["null"] = tuple(found["null"])
    if "pattern" in found:
        found["pattern"] = re.compile(found["pattern"])
    return found
