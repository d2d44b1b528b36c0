"""From straight pieces to phases: what falls, rises or lies flat, and what belongs together."""

import math

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.signals.shape.axis import Coarse, unscaled
from runlens.signals.shape.chance import either, kendall, t_tail
from runlens.signals.shape.corners import corner_near
from runlens.signals.shape.data import Effect, Noise, PhaseKind, Scale
from runlens.signals.shape.segments import Pieces, refitted
from runlens.signals.shape.swings import Cycles

SURE = 0.01  # chance of a slope above which a piece is flat
OF_RANGE = 0.08  # share of the range of the smooth curve below which a change is small,
OF_LEVEL = 0.05  # if it is below this share of the level too
# a fall that gains this share of the level, or of the range, with each doubling of the steps goes
# on: scaling laws of language models lose 5 to 6.4 % a doubling (Kaplan et al. 2020, exponents
# 0.076 and 0.095), fine-tuning a third of it
LEVEL_A_DOUBLING, RANGE_A_DOUBLING = 0.02, 0.04
MANY = 40  # blocks from which a piece is one of many that could have been cut:
SURE_OF_PIECE = 0.001  # its slope must be surer
NEAR_END = 0.04  # share of the curve
# that the curve is divided is sure already: a piece that makes so much of its range is no accident
LARGE, SURE_OF_LARGE = 0.25, 0.1
AT_END, AT_TURN = 0.06, 0.08  # share of the curve below which a flat beside a slope is none
JUMPS = 0.15  # share of the range by which two pieces lie apart that do not meet in a corner
NOTHING = 0.005  # share of the level that is no change, however sure: 5.359 to 5.358
NEARLY = 0.5  # share of a phase from which on it swings
FEW = 12  # blocks up to which ranks are tested as well


class Stretch(NamedTuple):
    """A phase in blocks: first to last, both included."""

    kind: PhaseKind
    first: int
    last: int
    begin: float  # fitted value at its first block, on the scale
    end: float  # and at its last
    slope: float  # per step
    slope_error: float
    chance: float
    swings: bool = False  # to and fro as well


def with_swing(found: list[Stretch], grid: Coarse, pieces: Pieces, swing: Cycles) -> list[Stretch]:
    """Return the phases with the swing among them.

    It is a phase of its own where its height is at least half of what the course moves meanwhile;
    else the phases keep their kinds, and swing as they go. What is shorter than a cycle beside
    it is what is left of taking it out, and goes to the phase next to that.
    """
    first, last = (
        int(np.searchsorted(grid.start, at, side="right")) - 1 for at in (swing.first, swing.last)
    )
    height = float(median(swing.height))
    begin, end = float(pieces.fitted[first]), float(pieces.fitted[last])
    level = abs(share_of_level(grid, begin, height))
    span = float(np.ptp(pieces.fitted))
    if height < OF_RANGE * span and level < OF_LEVEL:
        return found
    if 2.0 * height < abs(end - begin):
        return [
            part._replace(
                swings=min(part.last, last) - max(part.first, first)
                > NEARLY * (part.last - part.first)
            )
            for part in found
        ]
    cycle, end_block = swing.period / grid.size, len(grid.start) - 1
    first = 0 if first <= cycle else first  # less than a cycle at an end belongs to the swing
    last = end_block if end_block - last <= cycle else last
    covered = float(grid.step[last] - grid.step[first])
    slope = (end - begin) / covered if covered > 0 else 0.0
    phase = Stretch("swing", first, last, begin, end, slope, 0.0, swing.chance, swings=True)
    before = [_cut(pieces, part, part.first, min(part.last, first - 1)) for part in found]
    after = [_cut(pieces, part, max(part.first, last + 1), part.last) for part in found]
    room = max(2.0, min(cycle, NEAR_END * len(grid.start)))
    ahead = [part for part in before if part.last - part.first >= 1]
    if len(ahead) > 1 and ahead[-1].last - ahead[-1].first < room:
        ahead[-2:] = [_extended(grid, pieces, ahead[-2], ahead[-2].first, first - 1)]
    behind = [part for part in after if part.last - part.first >= 1]
    if len(behind) > 1 and behind[0].last - behind[0].first < room:
        behind[:2] = [_extended(grid, pieces, behind[1], last + 1, behind[1].last)]
    return [*ahead, phase, *behind]


def _cut(pieces: Pieces, part: Stretch, first: int, last: int) -> Stretch:
    if last < first or (first, last) == (part.first, part.last):
        return part if last >= first else part._replace(first=first, last=first - 1)
    begin, end = float(pieces.fitted[first]), float(pieces.fitted[last])
    return part._replace(first=first, last=last, begin=begin, end=end)


def stretches(grid: Coarse, pieces: Pieces) -> list[Stretch]:
    """Return the phases of the pieces: neighbors of one kind joined, short flats given away."""
    found: list[Stretch] = []
    for first, end in pieces.cuts:
        piece = _piece(grid, pieces, first, end - 1)
        before = found[-1] if found else None
        piece = piece._replace(kind=_kind(grid, pieces, piece, before))
        if before and _same(grid, before, piece, pieces):
            found[-1] = _joined(grid, pieces, before, piece)
        else:
            found.append(piece)
    if (leads := _few_lead(grid, found)) is not None:
        return [leads]
    return _cornered(grid, pieces, _without_short(grid, pieces, found))


def _few_lead(grid: Coarse, found: list[Stretch]) -> Stretch | None:
    """Return the one slope of few points that were cut into flats, if a line fits them better.

    That they are not all of one level is sure already, as they were cut; a step fits its levels.
    """
    if len(found) < 2 or len(grid.value) > FEW or any(part.kind != "flat" for part in found):  # noqa: PLR2004 - one flat is one
        return None
    whole = refitted(grid.step, grid.value, ((0, len(grid.value)),))
    line, levels = (
        float(((grid.value - fit) ** 2).sum()) for fit in (whole.fitted, _levels(grid, found))
    )
    part = _piece(grid, whole, 0, len(grid.value) - 1)
    if line >= levels or part.chance > SURE_OF_LARGE:
        return None
    return part._replace(kind="fall" if part.end < part.begin else "rise")


def _levels(grid: Coarse, found: list[Stretch]) -> FloatArray:
    """Return the mean of each phase at its points, shape of the grid."""
    sides = [grid.value[part.first : part.last + 1] for part in found]
    return np.concatenate([np.full(len(side), side.mean()) for side in sides])


def _cornered(grid: Coarse, pieces: Pieces, found: list[Stretch]) -> list[Stretch]:
    """Return the phases with their borders at corners, but where the curve jumps."""
    kept = list(found)
    for place in range(len(kept) - 1):
        before, after = kept[place], kept[place + 1]
        apart = abs(after.begin - before.end)
        if before.kind == after.kind or apart > max(
            3.0 * pieces.sigma, JUMPS * np.ptp(pieces.fitted)
        ):
            continue
        flat = (before.kind == "flat", after.kind == "flat")
        bounds = (before.first, after.last + 1)
        cut = corner_near(grid.step, grid.value, after.first, bounds, flat)
        kept[place] = _extended(grid, pieces, before, before.first, cut - 1)
        kept[place + 1] = _extended(grid, pieces, after, cut, after.last)
    return kept


def _without_short(grid: Coarse, pieces: Pieces, found: list[Stretch]) -> list[Stretch]:
    """Return the phases with short flats given to the falls and rises beside them.

    At an end they continue it; between a fall and a rise they are the rounding of the turn.
    """
    count = len(grid.value)
    kept: list[Stretch] = []
    for place, part in enumerate(found):
        length = part.last - part.first + 1
        after = found[place + 1] if place + 1 < len(found) else None
        before = kept[-1] if kept else None
        least = AT_TURN if before and after else AT_END
        short = part.kind == "flat" and length < least * count
        sides = (before.kind if before else "", after.kind if after else "")
        turn = set(sides) == {"fall", "rise"}
        if short and turn and before and after:
            middle = part.first + length // 2
            kept[-1] = _extended(grid, pieces, before, before.first, middle - 1)
            found[place + 1] = _extended(grid, pieces, after, middle, after.last)
        elif short and before and after and sides in {("fall", "fall"), ("rise", "rise")}:
            joined = _extended(grid, pieces, after, before.first, after.last)
            found[place + 1] = joined._replace(chance=min(before.chance, after.chance))
            kept.pop()
        elif short and before and not after and before.kind in {"fall", "rise"}:
            kept[-1] = _extended(grid, pieces, before, before.first, part.last)
        elif short and after and not before and after.kind in {"fall", "rise"}:
            found[place + 1] = _extended(grid, pieces, after, part.first, after.last)
        else:
            kept.append(part)
    return kept


def _extended(grid: Coarse, pieces: Pieces, part: Stretch, first: int, last: int) -> Stretch:
    """Return the phase over other blocks."""
    begin, end = float(pieces.fitted[first]), float(pieces.fitted[last])
    covered = float(grid.step[last] - grid.step[first])
    slope = (end - begin) / covered if covered > 0 else 0.0
    return part._replace(first=first, last=last, begin=begin, end=end, slope=slope)


def _piece(grid: Coarse, pieces: Pieces, first: int, last: int) -> Stretch:
    x, y = grid.step[first : last + 1], grid.value[first : last + 1]
    fitted = pieces.fitted[first : last + 1]
    begin, end = float(fitted[0]), float(fitted[-1])
    covered = float(x[-1] - x[0])
    count = len(y)
    inflation = math.sqrt((1 + pieces.memory) / (1 - pieces.memory))
    error = pieces.sigma * inflation * math.sqrt(12.0 / max(count, 2))  # of the change over it
    change = end - begin
    free = max(len(grid.value) - 2 * len(pieces.cuts), 1)
    chance = t_tail(change / error, free) if error > 0 else float(change == 0)
    if count <= FEW and not pieces.memory:
        chance = either(chance, kendall(y)[1])
    per_step = 1.0 / covered if covered > 0 else 0.0
    return Stretch("flat", first, last, begin, end, change * per_step, error * per_step, chance)


def _kind(grid: Coarse, pieces: Pieces, piece: Stretch, before: Stretch | None) -> PhaseKind:
    change = piece.end - piece.begin
    share = abs(change) / max(float(np.ptp(pieces.fitted)), 1e-300)
    alone = len(grid.value) < MANY or len(pieces.cuts) == 1
    sure = SURE if alone else SURE_OF_PIECE
    if len(pieces.cuts) > 1 and share >= LARGE:
        sure = SURE_OF_LARGE
    level = abs(share_of_level(grid, piece.begin, change))
    if piece.chance > sure or level < NOTHING:
        return "flat"
    direction: PhaseKind = "fall" if change < 0 else "rise"
    if share >= OF_RANGE or level >= OF_LEVEL:
        return direction
    if before is not None and before.kind == direction:
        first, last = (max(grid.step[at], 0) + 1 for at in (piece.first, piece.last))
        doublings = math.log2(last / first)
        goes_on = level >= LEVEL_A_DOUBLING * doublings or share >= RANGE_A_DOUBLING * doublings
        return direction if goes_on else "flat"
    return direction if _leads_on(pieces, piece, change) else "flat"


def _leads_on(pieces: Pieces, piece: Stretch, change: float) -> bool:
    """Whether the next piece goes on the same way, as steeply to a half at least, and twofold."""
    follows = next((cut for cut in pieces.cuts if cut[0] == piece.last + 1), None)
    if follows is None:
        return False
    begin, end = float(pieces.fitted[follows[0]]), float(pieces.fitted[follows[1] - 1])
    mine = change / max(piece.last - piece.first, 1)
    next_slope = (end - begin) / max(follows[1] - 1 - follows[0], 1)
    return (
        abs(end - begin) > abs(change) and mine * next_slope > 0 and abs(mine) > abs(next_slope) / 2
    )


def share_of_level(grid: Coarse, begin: float, change: float) -> float:
    """Return a change as a share of the level before it; signed."""
    if grid.scale == "log":
        return math.expm1(min(change, 700.0))
    return change / abs(begin) if begin else math.copysign(math.inf, change) if change else 0.0


def effect_of(begin: float, end: float, scale: Scale, pieces: Pieces, noise: Noise) -> Effect:
    """Return how large the change between two values of the scale is."""
    moved = end - begin
    span = max(float(np.ptp(pieces.fitted)), abs(moved))
    low, high = unscaled(begin, scale), unscaled(end, scale)
    sigma = noise.sigma
    return Effect(
        high - low,
        (high - low) / abs(low) if low else 0.0,
        moved / span if span > 0 else 0.0,
        moved / sigma if sigma > 0 else math.copysign(math.inf, moved) if moved else 0.0,
    )


def _same(grid: Coarse, before: Stretch, piece: Stretch, pieces: Pieces) -> bool:
    """Whether two neighbors are one phase: of one kind, and no step to the other side between."""
    span, sigma = float(np.ptp(pieces.fitted)), pieces.sigma
    if before.kind != piece.kind:
        return False
    step = piece.begin - before.end
    if piece.kind == "flat":
        apart = (piece.begin + piece.end - before.begin - before.end) / 2
        nothing = abs(share_of_level(grid, before.end, apart)) < NOTHING
        return nothing or abs(apart) < max(OF_RANGE * span, 2.0 * sigma)
    against = step if piece.kind == "fall" else -step
    return against < max(OF_RANGE * span, 3.0 * sigma)


def _joined(grid: Coarse, pieces: Pieces, before: Stretch, piece: Stretch) -> Stretch:
    covered = float(grid.step[piece.last] - grid.step[before.first])
    slope = (piece.end - before.begin) / covered if covered > 0 else 0.0
    error = math.hypot(before.slope_error, piece.slope_error) / 2
    chance = min(before.chance, piece.chance)
    if piece.kind == "flat":
        both = _piece(grid, pieces, before.first, piece.last)
        slope, error, chance = both.slope, both.slope_error, both.chance
    return Stretch(
        piece.kind, before.first, piece.last, before.begin, piece.end, slope, error, chance
    )
