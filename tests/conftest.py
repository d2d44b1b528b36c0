"""Settings of all tests: limits of time belong to benchmarks, not to tests on shared machines."""

from hypothesis import settings

settings.register_profile("runlens", deadline=None)
settings.load_profile("runlens")
