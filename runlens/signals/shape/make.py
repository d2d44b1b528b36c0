"""Make the shape of a curve: what is gone, the plunge at its head, spikes, pieces, phases."""

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from runlens.arrays import median, stretches_of
from runlens.history import FloatArray, IntArray
from runlens.signals.noise import GAUSSIAN, sigma_hops
from runlens.signals.shape.axis import Coarse, all_unscaled, block_medians, coarse, to_scale
from runlens.signals.shape.borders import begins, borders, sharpened
from runlens.signals.shape.data import NAN, NOWHERE, Effect, Event, Noise, Phase, PhaseKind, Point
from runlens.signals.shape.events import jumps, spikes
from runlens.signals.shape.frozen import frozen_ends
from runlens.signals.shape.head import head
from runlens.signals.shape.phases import Stretch, effect_of, stretches, with_swing
from runlens.signals.shape.segments import Pieces, divide
from runlens.signals.shape.shape import Shape
from runlens.signals.shape.swings import Cycles, calmed, cycles, described, takes_time

FEWEST = 4  # finite points below which a curve has no shape

HUGE = 1e100  # beyond it the square is no number any more


class Body(Struct, frozen=True, eq=False):
    """The finite points of a curve, or those behind its head, with their course."""

    index: IntArray  # place in the curve given, shape (n,), as step and value
    step: IntArray
    value: FloatArray
    scaled: FloatArray  # value on the scale
    course: FloatArray  # fitted, on the scale
    grid: Coarse
    pieces: Pieces
    noise: Noise
    swing: Cycles | None
    borders: dict[int, tuple[int, bool]]  # of the pieces, in blocks: first point, and if a jump
    starts: IntArray  # first point of each block, moved to the jumps; shape (m + 1,)

    def at(self, place: int) -> Point:
        """Return a point by its place among those of the body."""
        return Point(int(self.index[place]), int(self.step[place]), float(self.value[place]))


@np.errstate(over="ignore", invalid="ignore")  # values near the largest float are no error
def shape_of(step: IntArray, value: FloatArray) -> Shape:
    """Return the shape of a curve, step and value of shape (n,), steps ascending.

    NaN and infinities are kept as phases that are gone; below 4 finite points there is no other.
    """
    step, value = np.asarray(step, dtype=np.int64), np.asarray(value, dtype=np.float64)
    finite = np.flatnonzero(np.isfinite(value))
    x, y = step[finite], np.clip(value[finite], -HUGE, HUGE)
    if len(finite) < FEWEST:
        return _assembled(step, value, finite, Shape(phases=_gone_phases(step, value)))
    still = frozen_ends(y)
    moving = slice(still[0], len(y) - still[1])
    if len(y[moving]) < FEWEST:
        return _assembled(step, value, finite, _standing(finite, x, y, step, value))
    found, body, events, trend = _moving(finite[moving], x[moving], y[moving])
    for part in (slice(0, still[0]), slice(len(y) - still[1], len(y))):
        if part.stop > part.start:
            found.append(_frozen(finite[part], x[part], y[part]))
    made = Shape(
        tuple(sorted([*found, *_gone_phases(step, value)], key=lambda phase: phase.first.index)),
        tuple(sorted(events, key=lambda event: event.after.step)),
        body.grid.scale,
        body.noise,
        trend_step=np.concatenate([x[: still[0]], trend[0], x[len(x) - still[1] :]]),
        trend=np.concatenate([y[: still[0]], trend[1], y[len(y) - still[1] :]]),
    )
    return _assembled(step, value, finite, made)


def _moving(
    index: IntArray, step: IntArray, value: FloatArray
) -> tuple[list[Phase], Body, list[Event], tuple[FloatArray, FloatArray]]:
    """Return phases, course, events and trend (steps, levels) of what does not stand still."""
    body = _body(index, step, value)
    begins, chance = head(body.scaled, body.course, body.noise.sigma)
    if begins and len(value) - begins >= FEWEST:
        body = _body(index[begins:], step[begins:], value[begins:])
    else:
        begins = 0
    levels = all_unscaled(body.pieces.fitted, body.grid.scale)
    found = [_phase(body, part) for part in _stretches(body)]
    if begins:
        found = _with_plunge(found, body, step[: begins + 1], value[: begins + 1], chance)
    events = jumps(body.step, body.value, body.grid, body.pieces, body.borders)
    taken = {at for at, jump in body.borders.values() if jump}
    events += spikes(body.step, body.value, body.course, body.scaled, taken)
    swinging = [phase for phase in found if phase.kind == "swing"]
    events = [event for event in events if not _inside(event, swinging)]
    trend_step = np.concatenate([step[:begins].astype(np.float64), body.grid.step])
    return found, body, events, (trend_step, np.concatenate([value[:begins], levels]))


def _inside(event: Event, phases: list[Phase]) -> bool:
    """Whether an event is one of the turns of a swing."""
    at = event.after.index
    return any(phase.first.index <= at <= phase.last.index for phase in phases)


def _frozen(index: IntArray, step: IntArray, value: FloatArray) -> Phase:
    """Return the phase of points that repeat exactly."""
    ends = [Point(int(index[at]), int(step[at]), float(value[at])) for at in (0, -1)]
    return Phase(
        kind="frozen",
        first=ends[0],
        last=ends[1],
        lowest=ends[0],
        highest=ends[0],
        level=float(value[0]),
        slope=0.0,
        slope_error=0.0,
        noise=0.0,
        effect=Effect(),
        chance=0.0,
    )


def _standing(
    index: IntArray, step: IntArray, value: FloatArray, steps: IntArray, values: FloatArray
) -> Shape:
    """Return the shape of a curve that hardly moves at all."""
    found = [_frozen(index, step, value), *_gone_phases(steps, values)]
    return Shape(
        tuple(sorted(found, key=lambda phase: phase.first.index)),
        trend_step=step[[0, -1]].astype(np.float64),
        trend=value[[0, -1]],
    )


def _assembled(step: IntArray, value: FloatArray, finite: IntArray, made: Shape) -> Shape:
    """Return the shape with its ends and points."""
    if not len(value):
        return made

    def at(place: int) -> Point:
        return Point(place, int(step[place]), float(value[place]))

    some = value[finite]
    return replace(
        made,
        points=len(value),
        first=at(0),
        last=at(len(value) - 1),
        lowest=at(int(finite[np.argmin(some)])) if len(some) else NOWHERE,
        highest=at(int(finite[np.argmax(some)])) if len(some) else NOWHERE,
        index=finite,
        step=step[finite],
        value=some,
    )


def _body(index: IntArray, step: IntArray, value: FloatArray) -> Body:
    grid = coarse(step, value)
    scaled = to_scale(value, grid.scale, grid.low)
    swing = cycles(scaled)
    if swing is not None and not takes_time(swing, step):
        swing = None
    if swing is not None:
        grid = grid._replace(value=block_medians(calmed(scaled, swing), grid.size))
    pieces = sharpened(grid, divide(grid.step, grid.value), scaled)
    course = np.interp(step.astype(np.float64), grid.step, pieces.fitted)
    noise = _noise(scaled - course, value, grid, sigma_hops(scaled))
    found = borders(grid, pieces, scaled)
    starts = begins(grid, found)
    return Body(index, step, value, scaled, course, grid, pieces, noise, swing, found, starts)


def _noise(residual: FloatArray, value: FloatArray, grid: Coarse, least: float) -> Noise:
    sigma = max(GAUSSIAN * float(median(np.abs(residual))), least)
    level = float(median(np.abs(value)))
    relative = sigma if grid.scale == "log" else sigma / level if level > 0 else 0.0
    centred = np.clip(residual, -4 * sigma, 4 * sigma)
    power = float((centred * centred).sum())
    memory = float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 0.0
    return Noise(sigma, relative, min(max(memory, 0.0), 0.99))


def _stretches(body: Body) -> list[Stretch]:
    found = stretches(body.grid, body.pieces)
    if body.swing:
        found = with_swing(found, body.grid, body.pieces, body.swing)
    return [part for part in found if body.starts[part.last + 1] > body.starts[part.first]]


def _phase(body: Body, part: Stretch) -> Phase:
    first, last = int(body.starts[part.first]), int(body.starts[part.last + 1]) - 1
    inside = body.value[first : last + 1]
    return Phase(
        kind=part.kind,
        first=body.at(first),
        last=body.at(last),
        lowest=body.at(first + int(np.argmin(inside))),
        highest=body.at(first + int(np.argmax(inside))),
        level=float(median(inside)),
        slope=part.slope,
        slope_error=part.slope_error,
        noise=body.pieces.sigma,
        effect=effect_of(part.begin, part.end, body.grid.scale, body.pieces, body.noise),
        chance=part.chance,
        swing=described(body.swing, body.step, body.value) if body.swing and part.swings else None,
    )


def _with_plunge(
    found: list[Phase], body: Body, step: IntArray, value: FloatArray, chance: float
) -> list[Phase]:
    """Return the phases with the plunge (or leap) of the first points before them.

    `step` and `value` are those of the head and of the first point of the body.
    """
    kind: PhaseKind = "fall" if value[-1] < value[0] else "rise"
    skipped = int(body.index[0]) - len(value) + 1

    def at(place: int) -> Point:
        return Point(skipped + place, int(step[place]), float(value[place]))

    scaled = to_scale(value, body.grid.scale, body.grid.low)
    steps = max(int(step[-1] - step[0]), 1)
    plunge = Phase(
        kind=kind,
        first=at(0),
        last=at(len(value) - 1),
        lowest=at(int(np.argmin(value))),
        highest=at(int(np.argmax(value))),
        level=float(median(value)),
        slope=float(scaled[-1] - scaled[0]) / steps,
        slope_error=body.noise.sigma / steps,
        noise=body.noise.sigma,
        effect=effect_of(
            float(scaled[0]), float(scaled[-1]), body.grid.scale, body.pieces, body.noise
        ),
        chance=chance,
    )
    if found[0].kind != kind:
        return [plunge, *found]
    lowest = min(plunge.lowest, found[0].lowest, key=lambda point: point.value)
    highest = max(plunge.highest, found[0].highest, key=lambda point: point.value)
    joined = replace(found[0], first=plunge.first, lowest=lowest, highest=highest)
    return [joined, *found[1:]]


def _gone_phases(step: IntArray, value: FloatArray) -> tuple[Phase, ...]:
    """Return the stretches of NaN and infinities: at the end, or 3 % of the curve long."""
    gone = ~np.isfinite(value)
    if not gone.any() or len(value) < FEWEST:
        return ()
    long = max(FEWEST, 0.03 * len(value))
    found = []
    for first, end in stretches_of(gone).tolist():
        if end == len(value) or end - first >= long:
            begin = Point(first, int(step[first]), float(value[first]))
            last = Point(end - 1, int(step[end - 1]), float(value[end - 1]))
            nothing = (NOWHERE, NOWHERE, NAN, 0.0, 0.0, 0.0, Effect(), 0.0)
            found.append(Phase("gone", begin, last, *nothing))
    return tuple(found)
