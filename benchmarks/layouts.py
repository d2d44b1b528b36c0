"""How much of a log that nobody has described is read: 2,000 made logs whose values are known.

A log is drawn from prefixes, counters, separators, ways to write a row, lines between the rows and
launches. Of each log all values are compared with those that were written, with the step that the
log prints beside them:

    python benchmarks/layouts.py                  # the share of logs that are read without a fault
    python benchmarks/layouts.py --show 3         # and three that are not, with what went wrong

A value is wrong where a curve has another number, or it at another step; it is unread where no
curve has it. Names are not compared but for the split: training and validation never mix.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from runlens.metrics import naming
from runlens.sources import console

Point = tuple[int, int, float]  # launch, step, value
PREFIXES = (  # h, m and s: hours, minutes and seconds that passed
    "",
    "2024-05-01 10:{m:02d}:{s:02d},{s:03d} - INFO - ",
    "[2024-05-01 10:{m:02d}:{s:02d}] ",
    "2024-05-01 10:{m:02d}:{s:02d}.482 | INFO     | __main__:main:88 - ",
    "[05/01/24 10:{m:02d}:{s:02d}] INFO     ",
    "INFO:root:",
    "INFO:__main__:",
    "[rank0]: ",
    "0: ",
    "I0501 10:{m:02d}:{s:02d}.123456 140321 train.py:88] ",
    "[10:{m:02d}:{s:02d}] ",
    "{m}:{s:02d}:07 ",
    "(trainer pid=12345) ",
    "> ",
    "[INFO|trainer.py:88] 2024-05-01 10:00:01,123 >> ",
    "node01: ",
    "05/01/2024 10:00:01 - INFO - __main__ - ",
    "[2024-05-01 10:00:{s:02d},123][__main__][INFO] - ",
    "    ",
    "2024-05-01T10:00:{s:02d}.123456789Z stdout F ",
    "May 01 10:00:{s:02d} host python[1234]: ",
    "INFO - 05/01/24 10:00:{s:02d} - 0:{m:02d}:{s:02d} - ",
    "\x1b[32m[train]\x1b[0m ",
    "[Elapsed {n}s] ",
)
JOINTS = (", ", " | ", "  ", "\t", "; ", " - ", " ")
BINDINGS = (": ", "=", " = ", ":", " ")
TRAIN = ("loss", "train_loss", "train/loss", "Loss", "Train Loss", "train loss", "lm_loss", "nll",
         "total_loss", "cost", "avg loss", "loss_train", "Loss/train", "xent", "mse",
         "policy_loss")  # fmt: skip
SECOND = ("acc", "lr", "grad_norm", "accuracy", "reward", "Learning Rate", "gnorm", "kl", "entropy",
          "tok/s", "mem_gb", "top1", "psnr", "ppl", "time", "ep_rew_mean", "Acc@1",
          "clip_frac")  # fmt: skip
HELD_OUT = ("val_loss", "val/loss", "valid loss", "Val Loss", "eval_loss", "test_loss", "dev loss",
            "validation loss", "Loss/val", "eval/loss")  # fmt: skip
NOISE = (
    "Saving model to checkpoints/model_{}.pt",
    "Best model so far, saved.",
    "/opt/conda/lib/python3.10/site-packages/torch/optim/lr_scheduler.py:139: UserWarning: step",
    "GPU 0 has a total capacity of 79.15 GiB",
    "",
    "-" * 40,
    "Loaded 50000 images from data/train in 3.2 s",
    "  0%|          | 0/100 [00:00<?, ?it/s]",
    "wandb: Syncing run bright-sun-{}",
)


@dataclass
class Log:
    """A made log: its text, and the points of each curve in it."""

    text: list[str] = field(default_factory=list)
    truth: dict[str, list[Point]] = field(default_factory=dict)
    traits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counting:
    """How a log says where it stands."""

    name: str
    form: str  # of epoch e of E, batch b of B in it, step s of n (k thousand)
    unit: str  # "step", "epoch": what its rows count


EPOCHS, BATCHES = 8, 5  # of a log with both; a batch is written each EVERY
EVERY = 20
COUNTERS = (
    Counting("step n", "step {s}", "step"),
    Counting("Step: n", "Step: {s}", "step"),
    Counting("step=n", "step={s}", "step"),
    Counting("[n/N]", "[{s}/{n}]", "step"),
    Counting("n/N", "{s}/{n}", "step"),
    Counting("iter n/N", "iter {s}/{n}", "step"),
    Counting("Iteration n", "Iteration {s}", "step"),
    Counting("it 00n", "it={s:06d}", "step"),
    Counting("nK", "step:{k}K", "thousands"),
    Counting("n,nnn", "iter: {s:,}", "thousands"),
    Counting("global_step", "global_step: {s}", "step"),
    Counting("update n", "update {s}", "step"),
    Counting("(step n)", "(step {s})", "step"),
    Counting("bare n", "{s}", "step"),
    Counting("epoch e", "epoch {e}", "epoch"),
    Counting("Epoch [e/E]", "Epoch [{e}/{E}]", "epoch"),
    Counting("Epoch: 00e", "Epoch: {e:04d}", "epoch"),
    Counting("Epoch e/E", "Epoch {e}/{E}", "epoch"),
    Counting("ep e", "ep {e}", "epoch"),
    Counting("<epoch:e>", "<epoch:{e:3d}>", "epoch"),
    Counting("episode", "Episode {e}", "epoch"),
    Counting("Train e", "Train {e}", "epoch"),
    Counting("Epoch: [e][b/B]", "Epoch: [{e}][{b}/{B}]", "batch"),
    Counting("Epoch e batch b/B", "Epoch {e} | Batch {b}/{B}", "batch"),
    Counting("[Epoch e/E] [b/B]", "[Epoch {e}/{e2}] [{b}/{B}]", "batch"),
    Counting("epoch, iter", "epoch: {e}, iter: {s:,}", "both"),
    Counting("epoch=e step=s", "epoch={e} step={s}", "both"),
)


def number(r: random.Random, value: float, form: str) -> str:
    """Write a number."""
    if r.random() < 0.004:
        return r.choice(("nan", "NaN"))
    return {"fixed": f"{value:.4f}", "short": f"{value:.2f}", "exp": f"{value:.3e}",
            "long": repr(value), "E": f"{value:.6E}"}[form]  # fmt: skip


@dataclass
class Plan:
    """What was drawn for one log."""

    prefix: str
    counting: Counting
    joint: str
    binding: str
    names: tuple[str, ...]
    held_out: str
    forms: dict[str, str]
    way: str
    noise: float
    launches: str


WAYS = ("line",) * 8 + (
    "header", "header", "markdown", "columns", "commas", "json", "dict", "pprint", "behind",
    "boxes", "blocks", "bars", "two lines", "two lines", "averages",
)  # fmt: skip
NEED_STEP = {"json", "dict", "pprint", "markdown", "columns", "commas", "boxes"}


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out a name that means what one before it means: of two a log keeps the longer."""
    return tuple({naming(name).metric: name for name in reversed(names)}.values())[::-1]


def draw(r: random.Random) -> Plan:
    """Draw a log."""
    way = r.choice(WAYS)
    counting = r.choice(
        [c for c in COUNTERS if way not in NEED_STEP or c.unit in {"step", "epoch"}]
    )
    names = distinct((r.choice(TRAIN), *r.sample(SECOND, r.randint(1, 4))))
    if way == "two lines":  # what says the split is the word before
        names = (r.choice(("loss", "Loss", "nll", "xent")), *names[1:])
    binding = r.choice(BINDINGS)
    joint = r.choice(JOINTS if binding != " " else JOINTS[:6])
    held_out = r.choice(HELD_OUT) if r.random() < 0.5 or way == "two lines" else ""
    forms = {name: r.choice(("fixed", "short", "exp", "long", "E")) for name in (*names, held_out)}
    return Plan(
        r.choice(PREFIXES) if way != "pprint" else PREFIXES[0],
        counting, joint, binding, names, held_out, forms, way,
        r.choice((0.0, 0.0, 0.2, 0.6)), r.choice(("one",) * 8 + ("again", "resumed")),
    )  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where a row stands: what is printed, and the step that this means."""

    launch: int
    epoch: int
    batch: int
    step: int  # printed
    means: int


def places(r: random.Random, plan: Plan) -> list[Place]:
    """Return where the rows of a log stand."""
    first, unit = r.choice((0, 1)), plan.counting.unit
    every = r.choice((1, 10, 50, 100)) if unit != "thousands" else 1000
    offset = r.choice((0, every))
    one = []
    for n in range(EPOCHS * BATCHES):
        epoch, batch = first + n // BATCHES, (n % BATCHES) * EVERY + offset % (EVERY + 1)
        step = offset + n * every
        if unit == "epoch":
            one.append(Place(0, first + n, 0, step, first + n))
        elif unit == "batch":
            batch = (n % BATCHES + (offset > 0)) * EVERY
            one.append(Place(0, epoch, batch, step, (epoch - first) * EVERY * BATCHES + batch))
        else:
            one.append(Place(0, epoch, batch, step, step))
    if plan.launches == "one":
        return one
    cut = r.randrange(15, 30)
    begun = 0 if plan.launches == "again" else cut - r.randrange(3, 9)
    return one[:cut] + [Place(1, p.epoch, p.batch, p.step, p.means) for p in one[begun:]]


class Writer:
    """Writes the rows of one log."""

    def __init__(self, r: random.Random, plan: Plan) -> None:
        """Begin a log."""
        self.r, self.plan, self.log = r, plan, Log()
        self.lines = 0
        self.headed = False  # whether the line of names was written
        self.own_line = r.random() < 0.5
        self.counted = r.random() < 0.6
        self.mark = r.choice(("=== {} ===", "{}:", "----- {} -----", "{}", "**** {} ****"))
        self.key = "epoch" if plan.counting.unit == "epoch" else r.choice(("step", "iter", "it"))
        self.total = EPOCHS * BATCHES * 100

    def say(self, line: str) -> None:
        """Write a line."""
        n = self.lines
        prefix = self.plan.prefix.format(m=n // 60 % 60, s=n % 60, n=7 * n)
        self.log.text.append(prefix + line)
        self.lines += 1

    def values(self, place: Place, n: int, names: tuple[str, ...]) -> dict[str, str]:
        """Draw the numbers of a row, and note them as the truth."""
        found = {}
        for name in names:
            level = 2.5 * 0.97**n + 0.05 * self.r.random() + 0.1 * (name == self.plan.held_out)
            text = number(self.r, level, self.plan.forms[name.partition(": ")[2] or name])
            self.log.truth.setdefault(name, []).append((place.launch, place.means, float(text)))
            found[name] = text
        return found

    def pairs(self, values: dict[str, str]) -> str:
        """Return names with their numbers."""
        return self.plan.joint.join(
            f"{k.partition(': ')[2] or k}{self.plan.binding}{v}" for k, v in values.items()
        )

    def counter(self, place: Place) -> str:
        """Return what says where a row stands."""
        return self.plan.counting.form.format(
            e=place.epoch, b=place.batch, s=place.step, n=self.total, k=place.step // 1000,
            E=EPOCHS * BATCHES, e2=EPOCHS, B=EVERY * BATCHES,
        )  # fmt: skip

    def row(self, place: Place, n: int) -> None:
        """Write a row."""
        plan = self.plan
        held = plan.held_out and (n % 5 == 4 or plan.way in {"columns", "markdown", "commas"})
        names = plan.names + ((plan.held_out,) if held and not self.own_line else ())
        way = plan.way
        if way in {"markdown", "columns", "commas"}:
            names = plan.names + ((plan.held_out,) if plan.held_out else ())
            held = ""
        if way == "two lines":
            self.say(self.mark.format(self.counter(place)))
            for data in ("Train", held_out_label(plan.held_out)):
                some = self.values(place, n, tuple(f"{data}: {name}" for name in plan.names[:2]))
                self.say(f"{data}: " + self.pairs(some))
            return
        values = self.values(place, n, names)
        getattr(self, "_" + way.replace(" ", "_"))(place, values)
        if held and self.own_line:
            some = self.values(place, n, (plan.held_out,))
            if self.counted and way in {"line", "behind", "averages"}:
                self.say(self.counter(place) + plan.joint + self.pairs(some))
            elif way in {"line", "behind", "averages", "header", "blocks"}:
                self.say(self.pairs(some))
            else:
                del self.log.truth[plan.held_out][-1]
                self.log.truth = {name: some for name, some in self.log.truth.items() if some}

    def _line(self, place: Place, values: dict[str, str]) -> None:
        self.say(self.counter(place) + self.plan.joint + self.pairs(values))

    def _averages(self, place: Place, values: dict[str, str]) -> None:
        some = {k: f"{v} ({float(v) * 1.01:.4f})" for k, v in values.items()}
        self.say(self.counter(place) + self.plan.joint + self.pairs(some))

    def _behind(self, place: Place, values: dict[str, str]) -> None:
        self.say(self.counter(place) + " - " + ", ".join(f"{v} {k}" for k, v in values.items()))

    def _header(self, place: Place, values: dict[str, str]) -> None:
        self.say(self.mark.format(self.counter(place)))
        for name, value in values.items():
            self.say(f"  {name}{self.plan.binding}{value}")

    def _blocks(self, place: Place, values: dict[str, str]) -> None:
        self.say(self.counter(place))
        for name, value in values.items():
            self.say(f"{name}: {value}")
        self.log.text.append("")

    def _json(self, place: Place, values: dict[str, str]) -> None:
        row = {self.key: place.means} | {k: float(v) for k, v in values.items()}
        self.say(json.dumps(row))

    def _dict(self, place: Place, values: dict[str, str]) -> None:
        row = {self.key: place.means} | {k: float(v) for k, v in values.items()}
        self.say(str(row))

    def _pprint(self, place: Place, values: dict[str, str]) -> None:
        row = {self.key: place.means} | {k: float(v) for k, v in values.items()}
        self.log.text += ["{", *(f"    {k!r}: {v}," for k, v in row.items()), "}"]

    def _boxes(self, place: Place, values: dict[str, str]) -> None:
        rows = {self.key: str(place.means)} | values
        wide, far = max(map(len, rows)), max(map(len, rows.values()))
        self.log.text += ["-" * (wide + far + 7)]
        self.log.text += [f"| {k:<{wide}} | {v:<{far}} |" for k, v in rows.items()]
        self.log.text += ["-" * (wide + far + 7)]

    def head_is_due(self) -> bool:
        """Whether the line of names has to be written."""
        due, self.headed = not self.headed, True
        return due

    def _markdown(self, place: Place, values: dict[str, str]) -> None:
        if self.head_is_due():
            self.say("| " + " | ".join((self.key, *values)) + " |")
            self.say("|" + "---|" * (len(values) + 1))
        self.say("| " + " | ".join((str(place.means), *values.values())) + " |")

    def _columns(self, place: Place, values: dict[str, str]) -> None:
        wide = max(14, *map(len, values), *map(len, values.values())) + 2
        if self.head_is_due():
            self.say("".join(f"{name:>{wide}}" for name in (self.key, *values)))
        self.say("".join(f"{text:>{wide}}" for text in (str(place.means), *values.values())))

    def _commas(self, place: Place, values: dict[str, str]) -> None:
        if self.head_is_due():
            self.say(",".join((self.key, *values)))
        self.say(",".join((str(place.means), *values.values())))

    def _bars(self, place: Place, values: dict[str, str]) -> None:
        self.say(self.counter(place) + self.plan.joint + self.pairs(values))
        bar = f"{place.batch}%|####      | {place.batch}/100 [00:01<00:02, 9.00it/s]"
        self.log.text[-1] += "\r" + bar


def held_out_label(held_out: str) -> str:
    """Return how a line of held-out numbers begins."""
    return {"v": "Val", "V": "Valid", "e": "Eval", "t": "Test", "d": "Dev", "L": "Validation"}[
        held_out[0]
    ]


def make(r: random.Random) -> Log:
    """Make a log."""
    plan = draw(r)
    writer = Writer(r, plan)
    if plan.noise:
        writer.say("Namespace(lr=0.001, batch_size=32, epochs=40, seed=1)")
    for n, place in enumerate(places(r, plan)):
        writer.row(place, n)
        if r.random() < plan.noise:
            writer.say(r.choice(NOISE).format(place.step))
    held = "own" if writer.own_line else "in" if plan.held_out else ""
    writer.log.traits = (
        plan.way, plan.counting.name, f"joint {plan.joint!r}", f"bind {plan.binding!r}",
        f"prefix {plan.prefix!r}", plan.launches, f"name {plan.names[0]}", f"held {held}",
        *(f"second {name}" for name in plan.names[1:]),
    )  # fmt: skip
    return writer.log


@dataclass
class Read:
    """What was read of a log."""

    right: int = 0
    wrong: int = 0
    unread: int = 0
    faults: list[str] = field(default_factory=list)


def compare(log: Log, path: Path) -> Read:
    """Read a log and compare it with the truth."""
    path.write_text("\n".join(log.text) + "\n", encoding="utf-8", newline="")
    curves: dict[str, list[Point]] = {}
    for name, some in console.read(path).series.items():
        rows = zip(some.launch.tolist(), some.step.tolist(), some.value.tolist(), strict=True)
        curves[name] = [(launch, step, _same(value)) for launch, step, value in rows]
    found = Read()
    for name, some in log.truth.items():
        truth = [(launch, step, _same(value)) for launch, step, value in some]
        _compare(found, name, truth, curves)
    return found


def _compare(found: Read, name: str, truth: list[Point], curves: dict[str, list[Point]]) -> None:
    """Add what was read of one curve."""
    best = max(curves, key=lambda c: len(set(curves[c]) & set(truth)), default=None)
    values = Counter(value for _, _, value in truth)
    if best is None or not set(curves[best]) & set(truth):
        best = max(
            curves, key=lambda c: len({v for *_, v in curves[c]} & set(values)), default=None
        )
    curve = curves.get(best or "", [])
    good = Counter(curve) & Counter(truth)
    seen = Counter(value for *_, value in curve)
    right = sum(good.values())
    there = sum((seen & values).values())
    extra = len(curve) - there
    found.right += right
    found.wrong += there - right + extra
    found.unread += len(truth) - there
    if right < len(truth) or extra:
        told = f"{name}: {right} of {len(truth)} right, {there - right} at another step"
        found.faults.append(f"{told}, {extra} more, in {best!r}")


def _same(value: float) -> float | str:
    """Return a value that equals itself: NaN as a text, percentages and units as they are."""
    return "nan" if value != value else round(value, 12)  # noqa: PLR0124 - NaN


def main() -> int:
    """Make and read the logs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="logs with a fault that are printed")
    args = parser.parse_args()
    total, good, by = Read(), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for number_ in range(args.count):
            log = make(random.Random(f"{args.seed}-{number_}"))
            found = compare(log, Path(folder, "train.log"))
            total.right += found.right
            total.wrong += found.wrong
            total.unread += found.unread
            good += not found.faults
            for trait in log.traits:
                by.setdefault(trait, []).append(not found.faults)
            if found.faults and args.show:
                args.show -= 1
                print(
                    f"--- {number_}: {', '.join(log.traits)}",
                    *found.faults,
                    *log.text[:14],
                    sep="\n",
                )
    values = total.right + total.wrong + total.unread
    print(f"logs without a fault: {good} of {args.count} ({good / args.count:.1%})")
    print(f"values: {total.wrong / values:.2%} wrong, {total.unread / values:.2%} unread")
    for trait, some in sorted(by.items(), key=lambda item: sum(item[1]) / len(item[1]))[:25]:
        print(f"  {sum(some) / len(some):6.1%} of {len(some):4d}  {trait}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
