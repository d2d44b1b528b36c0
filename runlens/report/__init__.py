"""Reports: one module a format, each reads the diagnosis alone."""
