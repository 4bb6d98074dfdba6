"""The documentation as a site: `make docs` (Sphinx with MyST and the theme Furo).

The pages are those of the repository as they stand. The front page is the README, below
which comes the order of the others, in the order in which a user needs them; a page
that it lacks is an error.
"""

from __future__ import annotations

import re
import shutil
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

ORDER = {
    "Start": ["docs/index", "docs/your_files", "docs/reading", "docs/decide", "docs/share"],
    "How to": [
        "docs/ingest", "docs/leaderboard", "docs/comparing", "docs/slices", "docs/report", "docs/serve",
        "docs/notebooks", "docs/agents", "docs/tools",
        "docs/mappings", "docs/suites", "docs/gate", "docs/cost", "docs/planning", "docs/training", "docs/generations",
        "docs/horizon", "docs/answers", "docs/votes", "docs/judges", "docs/stopping", "docs/subsets", "docs/audit",
        "docs/datamap", "docs/text", "docs/matrix",
        "docs/items", "docs/reliability", "docs/papers", "docs/cards", "docs/claims", "docs/refresh", "docs/schedule",
        "docs/writers", "docs/scale", "docs/questions", "docs/testing",
    ],
    "Reference": [
        "docs/glossary", "docs/cli", "docs/views", "docs/schema", "docs/identity", "docs/settings",
        "docs/importer_settings", "docs/importers",
        "docs/lm_eval",
        "docs/inspect",
        "docs/inspect_scout", "docs/helm", "docs/lighteval", "docs/opencompass", "docs/evalscope", "docs/mteb",
        "docs/openai_and_bigbench",
        "docs/code_and_agents", "docs/every_eval_ever",
    ],
    "Statistics explained": [
        "docs/calibration",
        "docs/calibration_unequal", "docs/calibration_preferences",
        "docs/calibration_sequential",
        "docs/calibration_formulations",
        "docs/calibration_judges",
        "docs/calibration_rows",
        "docs/calibration_composed",
    ],
    "Working on it": [
        "docs/performance", "docs/size", "docs/architecture", "CONTRIBUTING", "CHANGELOG",
        "benchmarks/README",
    ],
}  # fmt: skip

project = "eval-warehouse"
version = release = installed("eval-warehouse")
html_title = f"{project} {version}"
html_theme = "furo"
html_copy_source = html_show_sphinx = False
html_last_updated_fmt = None
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [
    "README.md",
    *(f"{page}.md" for pages in ORDER.values() for page in pages),
    "docs/*.md",
]
exclude_patterns = [".*", "build", "dist", "node_modules", "**/__pycache__"]
myst_heading_anchors = 4  # links to headings as forges make them
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.header"]  # a page may begin below its title

_LANGUAGE = re.compile(
    r"^```(?:mermaid|csv)\n", re.MULTILINE
)  # which Pygments does not know
_FOLDER = re.compile(r"\[([^\]\n]+)\]\((?!https?:)[\w./-]+/\)")


def _prepare(_app: Any, page: str, source: list[str]) -> None:
    """The order below the front page; and what only forges show: links to folders,
    drawings of Mermaid."""
    text = _LANGUAGE.sub("```text\n", _FOLDER.sub(r"\1", source[0]))
    if page == root_doc:
        for caption, pages in ORDER.items():
            text += (
                f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n"
                + "\n".join(pages)
                + "\n```\n"
            )
    source[0] = text


def _front(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        shutil.copyfile(
            Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html"
        )
        llms = (
            (Path(app.srcdir) / "docs" / "llms.txt")
            .read_text(encoding="utf-8")
            .replace(".md)", ".html)")
        )
        (Path(app.outdir) / "docs" / "llms.txt").write_text(llms, encoding="utf-8")


def _captions(
    _app: Any, _page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Sphinx calls a caption of the contents a heading and does not say of which level,
    which a screen reader needs."""
    tree = "furo_navigation_tree"
    context[tree] = context.get(tree, "").replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("html-page-context", _captions, priority=900)
    app.connect("source-read", _prepare)
    app.connect("build-finished", _front)
