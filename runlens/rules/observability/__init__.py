"""What a log does not hold, and what that costs."""
