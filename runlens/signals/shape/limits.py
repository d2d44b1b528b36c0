"""What noise alone gains when it is cut into pieces: the limit that a division has to pass."""

import numpy as np

# twice the log-likelihood that 1, 2 and 3 straight pieces gain over one constant on noise without
# shape, 99.4th percentile of 600 draws each (normal and t with 3 degrees of freedom, memory from
# none to a twentieth of the curve): benchmarks/shapes.py --limits draws them again
COUNT = (4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
ONE = (20.0, 16.5, 12.5, 12.0, 11.5, 11.0, 11.0, 10.5, 10.5, 10.5)
TWO = (60.0, 48.0, 38.0, 34.0, 30.0, 28.5, 28.0, 27.0, 26.0, 25.0)
THREE = (80.0, 72.0, 66.0, 62.0, 58.0, 54.0, 46.0, 42.0, 40.0, 39.0)
MORE = 14.5  # each further piece
# the same of two lines that meet, one of them flat or both with a slope, 99.6th of 2,500 draws
CORNER_COUNT = (5, 6, 7, 8, 9, 10, 12, 16, 24)
CORNER_OF_ONE = (22.5, 20.0, 18.0, 16.5, 15.5, 15.5, 15.0, 14.5, 14.0)
CORNER_OF_TWO = (30.0, 27.0, 23.0, 22.0, 21.0, 20.0, 19.0, 18.0, 17.0)


def critical(count: int, pieces: int) -> float:
    """Return the gain that noise of `count` values reaches in 0.6 % of curves with `pieces`."""
    table = (ONE, TWO, THREE)[min(pieces, 3) - 1]
    return float(np.interp(count, COUNT, table)) + MORE * max(pieces - 3, 0)


def corner_limit(count: int, slopes: int) -> float:
    """Return the gain that noise of `count` values reaches in 0.4 % of curves with one corner."""
    table = (CORNER_OF_ONE, CORNER_OF_TWO)[slopes - 1]
    return float(np.interp(count, CORNER_COUNT, table))
