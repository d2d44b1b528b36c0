"""Static SVG charts: complete without a script, readable without a style sheet."""
