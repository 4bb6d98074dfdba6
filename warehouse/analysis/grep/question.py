"""The question which stored texts match a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.question import Option, Question

#: Where a text of a sample may stand.
PROMPT, RESPONSE, MESSAGE, TOOL_CALL, TOOL_RESULT, ERROR = PLACES = (
    *("prompt", "response", "message"),
    *("tool_call", "tool_result", "error"),
)
#: Whose messages are looked at where nobody says: the model's own.
ASSISTANT, TOOL = "assistant", "tool"
#: Places that know a tool.
_OF_TOOLS = {TOOL_CALL, TOOL_RESULT, ERROR}
#: Characters that a pattern may have.
LONGEST = 10_000


@dataclass(frozen=True)
class Grep(Question):
    """Samples whose texts match a pattern, counted by model, settings and benchmark, and
    the first of each model.

    A sample matches where one of its texts does. A pattern is a regular expression of
    RE2, which takes time that is linear in the text whatever the pattern is; ``^`` and
    ``$`` are ends of lines. Samples whose texts were not stored are not counted.

    Raises:
        MisuseError: an empty pattern or one that is no regular expression, an unknown
            benchmark or field, no run that fits, or no sample whose texts are stored.
    """

    NAME = "grep"
    COMMAND = "text grep"

    pattern: Annotated[
        str, Option("A regular expression (RE2); of each line, as grep's.", "PATTERN")
    ]
    _: KW_ONLY
    fixed_strings: Annotated[
        bool,
        Option("The pattern is a text as it stands.", flags=("-F", "--fixed-strings")),
    ] = False
    ignore_case: Annotated[
        bool,
        Option("Small and capital letters are alike.", flags=("-i", "--ignore-case")),
    ] = False
    word_regexp: Annotated[
        bool,
        Option(
            "Whole words: no letter, digit or _ beside the match.",
            flags=("-w", "--word-regexp"),
        ),
    ] = False
    places: Annotated[
        Sequence[str],
        Option(
            "Look in these texts. Repeatable. [default: what the model wrote, its "
            "response and its messages; with --role what that role said, with --tool "
            "its calls and results]",
            flags=("--in",),
            choices=PLACES,
        ),
    ] = ()
    role: Annotated[
        str | None,
        Option("Only what this role said: user, system, assistant, tool.", "ROLE"),
    ] = None
    tool: Annotated[
        str | None,
        Option("Only calls and results of this tool; * and ? fit any.", "NAME"),
    ] = None
    benchmark: Annotated[
        str | None, Option("Only its samples.", "NAME", ("-b", "--benchmark"))
    ] = None
    where: Annotated[
        Sequence[str],
        Option(
            "Only runs of which this holds; also FIELD!=VALUE; * and ? fit any. "
            "Repeatable.",
            "FIELD=VALUE",
        ),
    ] = ()
    max_count: Annotated[
        int,
        Option(
            "Samples that are shown of each model.",
            "N",
            ("-m", "--max-count"),
            least=1,
            most=10_000,
        ),
    ] = 3
    count: Annotated[
        bool, Option("Counts only, without samples.", flags=("-c", "--count"))
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.pattern:
            raise MisuseError("the pattern is empty, and every text would match it")
        if len(self.pattern) > LONGEST:
            raise MisuseError(
                f"the pattern has {len(self.pattern)} characters; expected at most "
                f"{LONGEST}"
            )
        if self.tool is not None and self.places and not self.of_tools:
            self.refuse("is of tool-call, tool-result and error: see {places}", "tool")
        if self.count:
            self.refuse("shows samples, and {count} shows none", "max_count")

    @property
    def of_tools(self) -> bool:
        """Whether a place that is named knows a tool."""
        return not _OF_TOOLS.isdisjoint(self.places)
