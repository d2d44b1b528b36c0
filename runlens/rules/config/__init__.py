"""Settings that are outside what is usual: advice, never an alarm."""
