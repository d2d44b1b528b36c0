"""Rules about NaN and numeric trouble."""
