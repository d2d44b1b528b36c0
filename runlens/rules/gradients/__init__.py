"""Rules about gradient norms."""
