"""An example of a plugin for RunLens: one rule, one source, one format."""
