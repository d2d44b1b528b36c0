"""The parts of the pages. Each takes plain data and returns markup; none reads a file."""
