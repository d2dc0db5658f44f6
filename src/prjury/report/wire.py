"""The JSON report ``prjury/report/v1``: written, read back, and its published schema."""

from __future__ import annotations

from prjury.report.codec import gate_from_report, report_to_json, verdict_from_report
from prjury.report.wire_model import SCHEMA_NAME, ReportJson, report_schema

__all__ = [
    "SCHEMA_NAME",
    "ReportJson",
    "gate_from_report",
    "report_schema",
    "report_to_json",
    "verdict_from_report",
]
