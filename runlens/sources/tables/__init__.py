"""Metrics in tables: CSV and JSON Lines, one row a record."""
