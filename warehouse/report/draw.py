"""Drawing: specifications of Vega-Lite into SVG that stands in a page, without what it repeats."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from xml.etree import ElementTree

from warehouse.extras import load

#: Attributes that are kept. Classes, roles and styles say nothing here: the page's policy refuses
#: styles, and a screen reader is given the words of the whole figure.
_KEPT = {
    "d",
    "fill",
    "fill-opacity",
    "font-size",
    "font-weight",
    "height",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "transform",
    "viewBox",
    "width",
    "x",
    "x2",
    "y",
    "y2",
}
#: Attributes that a group can say for all that is in it.
_INHERITED = _KEPT - {"d", "height", "opacity", "transform", "viewBox", "width", "x", "y"}
#: What holds where nothing is said; ``.plot`` of style.css says no fill, and the size of letters.
_DEFAULTS = {
    "fill": ("none", "transparent"),
    "fill-opacity": ("1",),
    "font-size": ("11px",),
    "font-weight": ("normal",),
    "opacity": ("1",),
    "stroke": ("none", "transparent"),
    "stroke-dasharray": ("", "1,0"),
    "stroke-opacity": ("1",),
    "stroke-width": ("1",),
    "text-anchor": ("start",),
    "transform": ("translate(0,0)",),
}
_STEP = re.compile(r"([MLZ])(?:(-?[\d.]+),(-?[\d.]+))?")
_NUMBER = re.compile(r"-?(?:\d*\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+)")
_SHIFT = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")
#: A disc as Vega writes it: two half circles around the origin.
_DISC = re.compile(r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0Z?")


@dataclass(frozen=True)
class Drawing:
    """What stands in an ``svg`` element of the page."""

    width: int  #: of the box.
    height: int  #: of the box.
    body: str  #: the elements; text is escaped.


def can_draw() -> bool:
    """Whether what draws is installed (the extra ``figures``)."""
    return find_spec("vl_convert") is not None


def draw(spec: Mapping[str, Any]) -> Drawing:
    """Draw a specification of Vega-Lite. The same specification gives the same text.

    Raises:
        ValueError: Vega does not understand the specification.
        MisuseError: what draws is not installed.
    """
    vega = load("vl_convert", "figures", "drawing")  # 0.4 s at the first drawing
    return slim(vega.vegalite_to_svg(dict(spec), allowed_base_urls=[]))


def slim(svg: str) -> Drawing:
    """An SVG of Vega with nothing in it that does not show.

    Numbers have one decimal; what all parts of a group say, the group says; neighbours that look
    the same become one path.
    """
    root = ElementTree.fromstring(svg)
    _tidy(root)
    body = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    size = [int(float(root.attrib[name])) for name in ("width", "height")]
    return Drawing(size[0], size[1], body.replace(" />", "/>"))


def _tidy(node: ElementTree.Element) -> None:
    node.tag, node.tail = node.tag.rpartition("}")[2], None
    node.attrib = {
        name: value
        for name, value in ((name, _rounded(name, value)) for name, value in node.attrib.items())
        if name in _KEPT and value not in _DEFAULTS.get(name, ())
    }
    for child in node:
        _tidy(child)
    if node.tag == "line":
        _as_path(node)
    elif node.tag == "path":
        _as_dot(node)
        _as_steps(node)
    elif node.tag == "text":
        _as_place(node)
    _join(node, [part for child in node if _shows(child) for part in _parts(child)])
    _lift(node)


def _rounded(name: str, value: str) -> str:
    """A number or several with one decimal, two for what is not a place."""
    if name in ("fill", "stroke"):
        return value
    digits = 2 if name.endswith(("width", "opacity")) else 1
    return _NUMBER.sub(lambda match: f"{round(float(match[0]), digits) + 0.0:.10g}", value)


def _shows(node: ElementTree.Element) -> bool:
    """Whether it leaves a trace; Vega says the paint of each mark itself."""
    if node.tag == "g":
        return len(node) > 0
    if node.tag == "text":
        return bool(node.text)
    painted = "fill" in node.attrib or "stroke" in node.attrib
    return painted and (node.tag != "path" or bool(node.get("d")))


def _parts(node: ElementTree.Element) -> list[ElementTree.Element]:
    """What is in a group that says nothing, else the node itself."""
    return list(node) if node.tag == "g" and not node.attrib else [node]


def _as_path(node: ElementTree.Element) -> None:
    """A line as a path, which its neighbours can be joined to."""
    if not (start := _moved(node)):
        return
    across, up = node.attrib.pop("x2", "0"), node.attrib.pop("y2", "0")
    end = f"h{across}" if up == "0" else f"v{up}" if across == "0" else f"l{across} {up}"
    node.tag = "path"
    node.set("d", f"M{start[0]} {start[1]}{end}")


def _as_steps(node: ElementTree.Element) -> None:
    """A path of straight lines goes on from where it is, which takes shorter numbers."""
    course = node.get("d", "")
    steps = _STEP.findall(course)
    if sum(len(letter + x + y) + bool(x) for letter, x, y in steps) != len(course):
        return
    words, at, last = [], (0, 0), ""
    for letter, *coordinates in steps:
        x, y = (round(10 * float(text or "0")) for text in coordinates)
        if letter == "L":
            words += ["l" if last != "L" else " ", _tenths(x - at[0]), " ", _tenths(y - at[1])]
        else:
            words.append(f"M{_tenths(x)} {_tenths(y)}" if letter == "M" else "Z")
        at, last = (x, y), letter
    node.set("d", "".join(words).replace(" -", "-"))


def _tenths(number: int) -> str:
    return f"{number / 10:.10g}".replace("0.", ".", 1) if abs(number) < 10 else f"{number / 10:.10g}"


def _as_dot(node: ElementTree.Element) -> None:
    """A disc as a line of no length whose round end is drawn, a fifth of the text."""
    disc = _DISC.fullmatch(node.get("d", ""))
    if not disc or "fill" not in node.attrib or "stroke" in node.attrib:
        return
    if start := _moved(node):
        node.attrib = {
            "d": f"M{start[0]} {start[1]}h0",
            "stroke-linecap": "round",
            "stroke-width": f"{2 * float(disc[1]):.10g}",
        } | {
            name.replace("fill", "stroke"): value
            for name, value in node.attrib.items()
            if name in ("fill", "fill-opacity", "opacity")
        }


def _as_place(node: ElementTree.Element) -> None:
    """A text that is moved, but not turned, stands at a place."""
    if start := _moved(node):
        node.attrib |= {"x": start[0], "y": start[1]}


def _moved(node: ElementTree.Element) -> tuple[str, str] | None:
    """Where a node is moved to, which is taken off it; None if it is turned too."""
    shift = _SHIFT.fullmatch(node.get("transform", "translate(0,0)"))
    if shift is None:
        return None
    node.attrib.pop("transform", None)
    return shift[1], shift[2]


def _join(node: ElementTree.Element, parts: Sequence[ElementTree.Element]) -> None:
    """Give a node its parts; neighbouring paths that differ in their course only become one."""
    kept: list[ElementTree.Element] = []
    for part in parts:
        last = kept[-1] if kept else None
        if last is not None and last.tag == part.tag == "path" and _look(last) == _look(part):
            last.set("d", last.attrib["d"] + part.attrib["d"])
        else:
            kept.append(part)
    node[:] = kept


def _look(node: ElementTree.Element) -> dict[str, str]:
    return {name: value for name, value in node.attrib.items() if name != "d"}


def _lift(node: ElementTree.Element) -> None:
    """What all parts of a group say, the group says for them."""
    if node.tag != "g" or len(node) < 2:
        return
    first = node[0].attrib
    for name in sorted(_INHERITED & first.keys()):
        value = first[name]
        if all(child.get(name) == value for child in node):
            node.set(name, value)
            for child in node:
                del child.attrib[name]
