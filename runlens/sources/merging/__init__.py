"""From readings to runs: which belong together, and how they become one history."""
