"""Settings, from whatever file holds them."""
