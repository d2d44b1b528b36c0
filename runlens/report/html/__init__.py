"""The report as one HTML file: offline, safe, complete without JavaScript."""

from runlens.report.html.page import embedded, render

__all__ = ["embedded", "render"]
