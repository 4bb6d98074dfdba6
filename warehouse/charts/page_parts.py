"""Parts of a page as HTML: headings, notes, figures, and what is folded away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from warehouse.charts.chart import Chart
from warehouse.charts.intervals import picture_of
from warehouse.charts.picture import Picture
from warehouse.tables.anchors import anchor
from warehouse.tables.page import unbroken

#: A picture whose text is its own; what is copied as Markdown waits in a template.
_FIGURE = Markup(
    '<figure class="copy"><figcaption><bdi>{}</bdi></figcaption>{}<p class="dim">{}</p>'
    '<template class="md">{}</template></figure>'
)
_NOTHING = Markup("")


def heading(part: str, benchmark: str, words: str) -> Markup:
    """Heading of a part of a benchmark, which links lead to."""
    return Markup('<h3 id="{}">{}</h3>').format(anchor(part, benchmark), words)


def notes(lines: Iterable[str]) -> Markup:
    """Remarks, one below the other; nothing for an empty list."""
    if not lines:  # what a filter of a template gives is taken as it comes, and may be an empty element
        return _NOTHING
    items = [Markup("<li>{}</li>").format(unbroken(line)) for line in lines]
    return Markup('<ul class="notes">{}</ul>').format(_NOTHING.join(items))


def figures(several: Iterable[Chart | Picture | None], wide: bool = False) -> Markup:
    """Charts and pictures side by side where there is room; nothing for none.

    Args:
        several: those that are None are left out.
        wide: they may be wider than a phone, and are scrolled there.
    """
    drawn = [picture_of(figure) for figure in several if figure is not None]
    if not drawn:
        return _NOTHING
    if wide:
        kind = Markup(' wide" tabindex="0"')
    else:
        kind = Markup('"')
    inside = [
        _FIGURE.format(one.title, one.svg, one.note, one.markdown) for one in drawn
    ]
    return Markup('<div class="figures{}>{}</div>').format(kind, _NOTHING.join(inside))


def opened(words: str, inside: Markup | None) -> Markup:
    """HTML behind words that open it."""
    return Markup("<details><summary>{}</summary>{}</details>").format(
        words, inside or _NOTHING
    )


def opened_late(words: str, inside: Markup) -> Markup:
    """The same of which a browser makes nodes only when it is opened."""
    return Markup(
        '<details class="late"><summary>{}</summary><noscript>{}</noscript></details>'
    ).format(words, inside)


def lines(parts: Sequence[Markup]) -> Markup:
    """Parts on lines of their own."""
    return Markup("\n").join(parts)
