"""Two runs or more, side by side: where they part, what explains it, and which one is better."""
