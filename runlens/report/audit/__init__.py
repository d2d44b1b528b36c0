"""An audit as text, JSON and Markdown; the page is `runlens.report.html.audit`."""
