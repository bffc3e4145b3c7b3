"""Reports: one model of a run, and every format that is made from it.

``report_of`` makes the model; ``FORMATS`` writes it; ``read_report`` reads its JSON back.
"""

from ._badge import badge
from ._clean import clean, clean_result
from ._diff import changes, diff_lines, got_worse
from ._formats import FORMATS, check_writable, write
from ._github import in_a_workflow, workflow_commands
from ._markdown import markdown
from ._matrix import matrix
from ._model import Report, report_of
from ._reading import ReportError, read_report
from ._schema import published_schema, schema_text

__all__ = [
    "FORMATS",
    "Report",
    "ReportError",
    "badge",
    "changes",
    "check_writable",
    "clean",
    "clean_result",
    "diff_lines",
    "got_worse",
    "in_a_workflow",
    "markdown",
    "matrix",
    "published_schema",
    "read_report",
    "report_of",
    "schema_text",
    "workflow_commands",
    "write",
]
