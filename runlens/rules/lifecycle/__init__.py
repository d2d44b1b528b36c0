"""Rules about how runs end."""
