"""Rules about reinforcement and preference learning."""
