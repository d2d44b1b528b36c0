"""Experiment trackers that keep many runs in one place."""
