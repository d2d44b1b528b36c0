"""Many runs, night after night: what is new, what is back, what is gone."""
