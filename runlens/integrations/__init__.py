"""RunLens inside other programs: each module needs the library of its name, and only when used."""
