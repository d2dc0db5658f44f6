"""The renderer's formats as functions."""

from __future__ import annotations

from prjury.report.render import Renderer

to_comment = Renderer().comment
to_summary = Renderer().summary
to_feedback = Renderer().feedback
to_html = Renderer().html
