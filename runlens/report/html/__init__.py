"""The report as one HTML file: offline, safe, complete without JavaScript."""

from runlens.report.html.page import render

__all__ = ["render"]
