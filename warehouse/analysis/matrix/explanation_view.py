"""The view of what prompts ask, and on which of them models succeed: rows, the
sentences and the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.matrix.results import MatrixResult, heading, line_of
from warehouse.analysis.results import Result, Row
from warehouse.tables.view import Part, Table, View, legend
from warehouse.tables.words import counted, listed, number, p_value, percentage


@dataclass(frozen=True)
class ExplainRow(Row):
    """One prompt's regression of performance on semantic similarity."""

    prompt: str  #: what it is called.
    coefficient: float | None  #: β; None where not defined.
    t: float | None  #: β over its standard error.
    p_value: float | None  #: two-sided.
    #: Benjamini–Hochberg over prompts (descriptive: the tests depend on one another).
    fdr: float | None
    text: str | None  #: of the prompt.


@dataclass(frozen=True)
class MatrixExplanation(MatrixResult):
    """Does what prompts ask explain on which of them models succeed? Largest β first."""

    DRAWN_BY = "warehouse.analysis.matrix.charts:coefficient_charts"

    rows: tuple[ExplainRow, ...]
    embedder: str  #: whose vectors.
    intercept: bool  #: whether regressions have one.
    n_permutations: int  #: N.
    n_without_vector: int  #: prompts of the matrix left out for want of a vector.
    n_undefined: int  #: prompts whose regression is not defined.
    #: share of the defined prompts with FDR below 0.05 and β above 0.
    share_fdr: float | None
    #: mean β, ``_permuted`` over the permutations, and its one-sided p.
    mean_coefficient: float | None
    mean_coefficient_permuted: float | None
    p_mean_coefficient: float | None
    #: distance of the β from all tables, its exact p, and the textbook's.
    ks_coefficient: float | None
    p_ks_coefficient: float | None
    p_ks_coefficient_textbook: float | None
    ks_fdr: float | None  #: the same of the FDRs.
    p_ks_fdr: float | None
    p_ks_fdr_textbook: float | None
    #: correlation of the two similarities over pairs; one-sided p beside it.
    mantel_r: float | None
    mantel_p: float | None
    part: str = "prompt"  #: what of the prompts was embedded.

    def view(self, *, verbose: bool = False, top: int = 10) -> View:
        """Whether prompts that ask alike have scores alike, and the prompts of which
        that holds most.

        Args:
            verbose: every test, beside what it gives without any effect.
            top: prompts in the table; 0 for all.
        """
        vectors = f"vectors of {self.embedder}"
        if self.part != "prompt":
            vectors = f"{self.part}, {vectors}"
        form = "through the origin"
        if self.intercept:
            form = "with intercept"
        head = heading(
            self, vectors, form, f"{self.n_permutations} permutations, seed {self.seed}"
        )
        if top:
            shown = self.rows[:top]
        else:
            shown = self.rows
        if verbose:
            return View((*head, *_tests(self), "", _prompts(shown)), self.notes)
        table = _prompts(shown).without(("t",))
        return View((_alike(self), *_single(self), *head, table), self.notes)


def _alike(result: MatrixExplanation) -> str:
    """Whether what prompts ask goes with scores, by the mean over prompts and over all
    pairs of them."""
    p, pairs = result.p_mean_coefficient, result.mantel_p
    if p is None:
        return "Whether prompts that ask alike have scores alike cannot be told."
    over_pairs = ""
    if pairs is not None:
        over_pairs = f"; over all pairs of them p {pairs:.2g}"
    tests = f"(p {p:.2g}{over_pairs})"
    if p > SHOWN:
        if pairs is not None and pairs <= SHOWN:
            return (
                "Prompts that ask alike have scores alike over all pairs of prompts, not "
                f"one by one {tests}."
            )
        return f"Prompts that ask alike are not shown to have scores alike {tests}."
    if pairs is not None and pairs > SHOWN:
        return (
            f"Prompts that ask alike have scores alike one by one, not over all pairs "
            f"{tests}."
        )
    return f"Prompts that ask alike have scores alike {tests}."


def _single(result: MatrixExplanation) -> list[str]:
    """Of how many prompts alone that is shown."""
    if result.share_fdr is None:
        return []
    n_defined = sum(row.fdr is not None for row in result.rows)
    n = round(result.share_fdr * n_defined)
    if not n:
        return [f"No single one of {counted(n_defined, 'prompt')} shows it."]
    show = "show"
    if n == 1:
        show = "shows"
    return [
        f"{n} of {counted(n_defined, 'prompt')} {show} it alone (false discovery rate "
        "5 %)."
    ]


def _tests(result: MatrixExplanation) -> list[Part]:
    """Each statistic beside what it is without any effect, and how many prompts have
    one."""
    cells = (
        (
            "mean coefficient",
            number(result.mean_coefficient, 4),
            number(result.mean_coefficient_permuted, 4),
            p_value(result.p_mean_coefficient),
            None,
        ),
        (
            "ks of coefficients",
            number(result.ks_coefficient, 4),
            None,
            p_value(result.p_ks_coefficient),
            p_value(result.p_ks_coefficient_textbook),
        ),
        (
            "ks of FDRs",
            number(result.ks_fdr, 4),
            None,
            p_value(result.p_ks_fdr),
            p_value(result.p_ks_fdr_textbook),
        ),
        ("Mantel r", number(result.mantel_r, 4), None, p_value(result.mantel_p), None),
    )
    parts: list[Part] = [
        Table(("statistic", "observed", "shuffled", "p", "p textbook"), cells)
    ]
    if result.share_fdr is not None:
        parts += [
            "",
            f"{100 * result.share_fdr:.1f}% of prompts: coefficient above 0, FDR below "
            "0.05",
        ]
    return parts


def _prompts(rows: Sequence[ExplainRow]) -> Table:
    cells = [
        (
            row.prompt,
            number(row.coefficient, 4),
            number(row.t, 2),
            p_value(row.fdr),
            line_of(row.text),
        )
        for row in rows
    ]
    return Table(("prompt", "coefficient", "t", "FDR", "text"), tuple(cells))


#: Largest p of what is called shown.
SHOWN = 0.05


@dataclass(frozen=True)
class PartRow(Row):
    """One part of the prompts and what it explains."""

    part: str  #: ``prompt``, ``target``, ``choices`` or ``metadata.FIELD``.
    n_prompts: int  #: prompts with a vector of it: figures are over these.
    n_without_vector: int  #: prompts of the matrix without.
    mean_coefficient: float | None  #: mean β.
    mean_coefficient_permuted: float | None  #: the same over the permutations.
    p_value: float | None  #: one-sided, of the mean β.
    p_holm: float | None  #: the same after Holm, over the parts.
    share_fdr: float | None  #: share of prompts with FDR below 0.05 and β above 0.
    p_ks_coefficient: float | None  #: of the distribution of β.
    p_ks_fdr: float | None  #: of that of the FDRs.
    mantel_r: float | None  #: correlation of the two similarities over pairs.
    mantel_p: float | None  #: one-sided.


@dataclass(frozen=True)
class ExplainedParts(Result):
    """Explanations of one matrix by several parts of its prompts."""

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric.
    n_models: int  #: models.
    embedder: str  #: whose vectors.
    n_permutations: int  #: N.
    rows: tuple[PartRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        """Which parts explain performance, in a sentence."""
        found = [
            row for row in self.rows if row.p_holm is not None and row.p_holm <= SHOWN
        ]
        both = [
            row.part
            for row in found
            if row.mantel_p is not None and row.mantel_p <= SHOWN
        ]
        only = [row.part for row in found if row.part not in both]
        said = []
        if both:
            said = [f"prompts alike in {listed(both)} have scores alike"]
        if only:
            said += [
                f"prompts alike in {listed(only)} have scores alike one by one, not "
                "over all pairs (Mantel)"
            ]
        what = "; ".join(said) or "no part is shown to go with scores"
        return (
            f"{self.benchmark} by {self.metric}, {self.n_models} models: {what}"
            f" (p after Holm over {len(self.rows)} parts at most {SHOWN:g})"
        )

    def view(self, *, verbose: bool = False) -> View:
        """A table of what each part of the prompts explains, side by side.

        Args:
            verbose: with what shuffled texts give, and what the columns mean.
        """
        cells = [
            {
                "part": row.part,
                "prompts": row.n_prompts,
                "without": row.n_without_vector or None,
                "mean": number(row.mean_coefficient, 4),
                "shuffled": number(row.mean_coefficient_permuted, 4),
                "p": p_value(row.p_value),
                "p Holm": p_value(row.p_holm),
                "above 0": percentage(row.share_fdr),
                "Mantel r": number(row.mantel_r, 4),
                "Mantel p": p_value(row.mantel_p),
            }
            for row in self.rows
        ]
        table = Table.of(cells, hide_empty=("without",), minor=("shuffled", "Mantel p"))
        vectors = f"vectors of {self.embedder}; {self.n_permutations} permutations"
        if not verbose:
            brief = table.without(("without", "shuffled", "p"))
            said = (*legend(_PARTS, are_terms=False),)
            return View((f"{self.one_line}.", "", brief, "", *said), self.notes)
        return View(
            (self.one_line, vectors, "", table, "", *legend(_PARTS, are_terms=False)),
            self.notes,
        )


#: Columns of parts in words.
_PARTS = {
    "mean": (
        "mean coefficient of performance on similarity of the part, within single "
        "prompts"
    ),
    "shuffled": "the same where prompts have the text of others",
    "p Holm": "chance of such a mean without any effect, all parts taken together",
    "above 0": (
        "share of prompts whose own coefficient is, at a false discovery rate below "
        "0.05"
    ),
    "Mantel r": "correlation of both similarities over all pairs of prompts",
}
