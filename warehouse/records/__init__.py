"""The canonical records: what every importer yields and the loader takes.

A *dump* is one source (a file, or files that belong together). It has one or more
:class:`RunHeader` and a stream of sample batches. A batch is either a ``pyarrow.RecordBatch``
with columns of :data:`SAMPLE_SCHEMA`, or a :class:`BulkQuery`: a query that produces the same
columns from the files, which the loader runs in bulk in its scratch space.

One row of a batch is one (prompt, variant, draw) of one run, with its scores and, for
log-likelihood benchmarks, its choices. Columns that an importer does not know may be left out.
The same (prompt, draw) may come in several rows (one per filter, say); the loader joins them.

A dump of scanners has no runs but a :class:`Scan`: what they say of generations that other dumps bring.
A dump may also hold votes between models, in batches with columns of :data:`VOTE_SCHEMA`, and no runs.
"""

from warehouse.records.canonical_json import canonical_json, content_key, is_cut, parse_json
from warehouse.records.dump import (
    CHOICE_TYPE,
    CUT_SHORT,
    SAMPLE_SCHEMA,
    SCAN_SCHEMA,
    SCORE_ORIGINS,
    SCORE_STATUSES,
    SCORE_TYPE,
    TOOL_TYPE,
    TRANSCRIPT_TYPE,
    VOTE_OUTCOMES,
    VOTE_SCHEMA,
    Batch,
    BulkQuery,
    Candidate,
    Dump,
    ImportSettings,
    Link,
    MetricKind,
    MetricSpec,
    PublishedScore,
    Rejection,
    RunHeader,
    RunStatus,
    SameContent,
    Scan,
    SourceFiles,
    literal_path,
    place_of,
)

__all__ = [
    "CHOICE_TYPE",
    "CUT_SHORT",
    "SAMPLE_SCHEMA",
    "SCAN_SCHEMA",
    "SCORE_ORIGINS",
    "SCORE_STATUSES",
    "SCORE_TYPE",
    "TOOL_TYPE",
    "TRANSCRIPT_TYPE",
    "VOTE_OUTCOMES",
    "VOTE_SCHEMA",
    "Batch",
    "BulkQuery",
    "Candidate",
    "Dump",
    "ImportSettings",
    "Link",
    "MetricKind",
    "MetricSpec",
    "PublishedScore",
    "Rejection",
    "RunHeader",
    "RunStatus",
    "SameContent",
    "Scan",
    "SourceFiles",
    "canonical_json",
    "content_key",
    "is_cut",
    "literal_path",
    "parse_json",
    "place_of",
]
