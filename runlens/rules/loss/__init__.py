"""Rules about shapes of the training loss."""
