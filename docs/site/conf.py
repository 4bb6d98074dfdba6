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
        "docs/ingest", "docs/importers", "docs/mappings", "docs/leaderboard", "docs/suites", "docs/comparing",
        "docs/slices", "docs/gate", "docs/stopping", "docs/planning",
        "docs/report", "docs/serve", "docs/cards", "docs/claims", "docs/notebooks", "docs/agents", "docs/tools",
        "docs/refresh", "docs/schedule",
        "docs/identity", "docs/cli", "docs/writers", "docs/scale",
        "docs/generations", "docs/training", "docs/reliability", "docs/subsets", "docs/items", "docs/audit",
        "docs/datamap", "docs/matrix", "docs/answers", "docs/judges", "docs/votes", "docs/cost",
        "docs/horizon", "docs/board", "docs/text", "docs/extending",
    ],
    "Reference": [
        "docs/reference/cli", "docs/reference/glossary", "docs/reference/views", "docs/reference/schema",
        "docs/reference/settings", "docs/reference/importer_settings", "docs/reference/mapping_language",
        "docs/reference/drafts", "docs/reference/declared", "docs/reference/tried_dumps", "docs/reference/rules_cli",
        "docs/reference/rules_ingest",
        "docs/reference/rules_identity", "docs/reference/rules_writers", "docs/reference/rules_refresh",
        "docs/reference/rules_schedule", "docs/reference/pages_report", "docs/reference/pages_serve",
        "docs/reference/importers", "docs/reference/lm_eval", "docs/reference/inspect", "docs/reference/inspect_scout",
        "docs/reference/helm", "docs/reference/lighteval", "docs/reference/opencompass", "docs/reference/evalscope",
        "docs/reference/mteb", "docs/reference/openai_and_bigbench", "docs/reference/code_and_agents",
        "docs/reference/every_eval_ever", "docs/reference/extending_questions", "docs/reference/extending_testing",
    ],
    "Statistics explained": [
        "docs/reference/methods_leaderboard", "docs/reference/methods_suites", "docs/reference/methods_comparing",
        "docs/reference/methods_slices", "docs/reference/methods_gate", "docs/reference/methods_stopping",
        "docs/reference/methods_planning", "docs/reference/methods_generations", "docs/reference/methods_training",
        "docs/reference/methods_reliability", "docs/reference/methods_subsets", "docs/reference/methods_items",
        "docs/reference/methods_audit", "docs/reference/methods_datamap", "docs/reference/methods_matrix",
        "docs/reference/methods_answers", "docs/reference/methods_judges", "docs/reference/methods_votes",
        "docs/reference/methods_board",
        "docs/reference/methods_cost", "docs/reference/methods_horizon", "docs/reference/methods_text",
        "docs/reference/methods_scale", "docs/reference/papers",
        "docs/reference/calibration", "docs/reference/calibration_unequal", "docs/reference/calibration_preferences",
        "docs/reference/calibration_sequential", "docs/reference/calibration_formulations",
        "docs/reference/calibration_judges", "docs/reference/calibration_rows", "docs/reference/calibration_composed",
    ],
    "Working on it": [
        "docs/architecture", "docs/reference/rooms", "docs/reference/performance", "docs/reference/size",
        "CONTRIBUTING", "CHANGELOG", "benchmarks/README",
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
    "docs/reference/*.md",
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
