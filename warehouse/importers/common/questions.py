"""The question in the messages that a model was sent."""

from __future__ import annotations

from typing import Any

from warehouse.importers.common.json_fields import as_text


def question_of(content: Any) -> str:
    """The question as text: a lone message without its role."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return as_text(content)
    spoken = [(str(item.get("role")), as_text(item.get("content", ""))) for item in content]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in spoken)
