"""Student's distribution: how far a value may lie off by chance."""

import math


def student_limit(freedom: int, cover: float = 0.95) -> float:
    """Return the t within which Student's distribution has `cover` of its mass, by bisection.

    For whole degrees of freedom the mass is a finite sum: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    low, high = 0.0, math.pi / 2  # of the angle whose tangent is t over the root of `freedom`
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_mass(middle, freedom) < cover else (low, middle)
    return math.tan(high) * math.sqrt(freedom)


def _student_mass(angle: float, freedom: int) -> float:
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for power in range(2 + odd, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (power - 1) / power
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if odd else total
