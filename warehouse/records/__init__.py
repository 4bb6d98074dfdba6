"""The canonical records: what every importer yields and the loader takes.

A *dump* is one source (a file, or files that belong together). It has one or more
:class:`RunHeader` and a stream of sample batches. A batch is either a
``pyarrow.RecordBatch`` with columns of :data:`SAMPLE_SCHEMA`, or a :class:`BulkQuery`:
a query that produces the same columns from the files, which the loader runs in bulk in
its scratch space.

One row of a batch is one (prompt, variant, draw) of one run, with its scores and, for
log-likelihood benchmarks, its choices. Columns that an importer does not know may be
left out. The same (prompt, draw) may come in several rows (one per filter, say); the
loader joins them.

A dump of scanners has no runs but a :class:`Scan`: what they say of generations that
other dumps bring. A dump may also hold votes between models, in batches with columns of
:data:`VOTE_SCHEMA`, and no runs.
"""

from warehouse.records.canonical_json import canonical_json as canonical_json
from warehouse.records.canonical_json import content_key as content_key
from warehouse.records.canonical_json import is_cut as is_cut
from warehouse.records.canonical_json import parse_json as parse_json
from warehouse.records.dump import CHOICE_TYPE as CHOICE_TYPE
from warehouse.records.dump import CUT_SHORT as CUT_SHORT
from warehouse.records.dump import SAMPLE_SCHEMA as SAMPLE_SCHEMA
from warehouse.records.dump import SCAN_SCHEMA as SCAN_SCHEMA
from warehouse.records.dump import SCORE_ORIGINS as SCORE_ORIGINS
from warehouse.records.dump import SCORE_STATUSES as SCORE_STATUSES
from warehouse.records.dump import SCORE_TYPE as SCORE_TYPE
from warehouse.records.dump import TOOL_TYPE as TOOL_TYPE
from warehouse.records.dump import TRANSCRIPT_TYPE as TRANSCRIPT_TYPE
from warehouse.records.dump import VOTE_OUTCOMES as VOTE_OUTCOMES
from warehouse.records.dump import VOTE_SCHEMA as VOTE_SCHEMA
from warehouse.records.dump import Batch as Batch
from warehouse.records.dump import BulkQuery as BulkQuery
from warehouse.records.dump import Candidate as Candidate
from warehouse.records.dump import Dump as Dump
from warehouse.records.dump import ImportSettings as ImportSettings
from warehouse.records.dump import Link as Link
from warehouse.records.dump import MetricKind as MetricKind
from warehouse.records.dump import MetricSpec as MetricSpec
from warehouse.records.dump import PublishedScore as PublishedScore
from warehouse.records.dump import Rejection as Rejection
from warehouse.records.dump import RunHeader as RunHeader
from warehouse.records.dump import RunStatus as RunStatus
from warehouse.records.dump import SameContent as SameContent
from warehouse.records.dump import Scan as Scan
from warehouse.records.dump import SourceFiles as SourceFiles
from warehouse.records.dump import literal_path as literal_path
from warehouse.records.dump import place_of as place_of
