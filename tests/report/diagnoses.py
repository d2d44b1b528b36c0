"""Diagnoses made by hand, one for each shape that a page must stand."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from runlens.diagnosis import (
    Advice,
    Cause,
    Chart,
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Fix,
    Incident,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    SettingRow,
    ThinCurve,
    Verdict,
)
from runlens.run import Event, Problem, State

NAN, INF = math.nan, math.inf
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<!--",
    "]]></style><style>*{display:none}",
    "&lt;b&gt;&amp;",
    "javascript:alert(1)",
    "\u202egnp.exe\u2066 \x1b[31mred\x00\r end",
    "\ud800 half a pair",
)


def curve(values: Iterable[float], *, every: float = 10.0, start: float | None = None) -> ThinCurve:
    """Return a curve that was logged every so many steps."""
    value = tuple(values)
    first = every if start is None else start
    return ThinCurve(tuple(first + every * i for i in range(len(value))), value, len(value))


def falling(points: int, low: float = 1.0) -> list[float]:
    """Return a loss that falls, with a small saw on it."""
    return [low + 2 * math.exp(-4 * i / points) + 0.05 * (i % 3) for i in range(points)]


def finding(**changes: Any) -> Finding:
    """Return a finding with every part filled."""
    whole = Finding(
        severity="warning",
        title="Overfitting from step 500: eval loss rose 20 % from its minimum 1.200 to 1.440.",
        metric="eval_loss",
        onset=Moment(500.0, 1.5),
        evidence=(
            Evidence("Rise of eval loss", 0.2, 0.05, "rise of 5 %", "eval_loss", 1000, unit="%"),
            Evidence("Best eval loss", 1.2, where="eval_loss", step=500),
            Evidence("Entropy", 0.01, 0.05, where="entropy", above=False),
        ),
        seen="Eval loss was best at step 500 and has climbed since.",
        causes=(Cause("Too many epochs", "most likely", "best after 1.5 of 3 epochs"),),
        fixes=(
            Fix("Train for fewer epochs", "num_train_epochs", 3.0, 2, "the best is there"),
            Fix("Keep the best model", "load_best_model_at_end", None, new=True),
            Fix("Use checkpoint-500", cost="minutes", why="saved at the best"),
        ),
        ruled_out=(RuledOut("Divergence", "train loss falls to the end"),),
        confidence=Confidence(0.8, "10 later evaluations agree"),
        chart=Chart("curves", ("train_loss", "eval_loss"), marks=(Mark(500, 1.2, "best 1.200"),)),
        rule="hockey-stick",
    )
    return replace(whole, **changes)


def diagnosis(**changes: Any) -> Diagnosis:
    """Return a diagnosis of a run of 1,000 steps that overfits."""
    faults = changes.pop("findings", None)
    incidents = changes.pop("incidents", None)
    if incidents is None:
        incidents = tuple(Incident((one,)) for one in faults) if faults else ()
    known: dict[str, Any] = {
        "run_id": "run-1",
        "run_name": "small run",
        "framework": "trl",
        "task": "sft",
        "task_why": "mean_token_accuracy is logged",
        "state": State("finished", "last step equals max_steps", "certain", None, 1000, 1000, 3, 3),
        "last_step": 1000,
        "sources": ("out/trainer_state.json", "train.log"),
        "outcomes": {
            "hockey-stick": Outcome("found" if incidents else "passed", "ends at its best"),
            "divergence": Outcome("passed", "ends 0.01 above its lowest; 0.50 would count"),
            "throughput-drop": Outcome("unmet", "throughput_tokens is not logged"),
            "entropy-collapse": Outcome("unmet", "holds for grpo, ppo; this run is sft"),
        },
        "titles": {
            "hockey-stick": "Overfitting",
            "divergence": "Divergence",
            "throughput-drop": "Throughput drop",
            "entropy-collapse": "Entropy collapse",
        },
        "incidents": incidents,
        "verdict": Verdict("No fault found: train loss fell to 1.050.", "3 checks.", "healthy"),
        "curves": losses(),
        "epochs": ((333.0, 1.0), (667.0, 2.0), (1000.0, 3.0)),
        "events": (Event("launch", 0, text="starts"), Event("checkpoint", 500, text="saved")),
        "settings": (
            SettingRow("num_train_epochs", 3, "config.yaml", "hockey-stick"),
            SettingRow("max_grad_norm", 1.0, "config.yaml"),
        ),
        "log_tail": ("one line", "another line"),
    }
    return Diagnosis(**(known | changes))


def losses(points: int = 100) -> dict[str, ThinCurve]:
    """Return train loss, a U-shaped eval loss, gradient norm and rate over 1,000 steps."""
    every = 1000 / points
    return {
        "train_loss": curve(falling(points), every=every),
        "eval_loss": curve([1.2 + abs(i - 5) * 0.05 for i in range(1, 11)], every=100),
        "grad_norm": curve([0.5 + 0.1 * (i % 7) for i in range(points)], every=every),
        "learning_rate": curve([2e-4 * (1 - i / points) for i in range(points)], every=every),
    }


def overfitting() -> Diagnosis:
    """Return a run with one incident, advice and a follower."""
    follower = finding(
        severity="info",
        title="Train loss drops at 2 of 2 epoch boundaries.",
        metric="train_loss",
        onset=Moment(333.0),
        rule="epoch-staircase",
        chart=Chart("boundary", ("train_loss",)),
    )
    return diagnosis(
        incidents=(Incident((finding(), follower)),),
        verdict=Verdict(finding().title, "The last 500 steps made it worse.", "warning"),
        do_first=Advice(
            (("Use checkpoint-500", "eval loss 1.200 against 1.440"),),
            ((" ", "# config.yaml"), ("-", "num_epochs: 3"), ("+", "num_epochs: 2")),
        ),
    )


def crashed() -> Diagnosis:
    """Return a run that died before its first step: a log line is the proof."""
    lines = tuple((f"train.log:{i}", f"frame {i}", i == 8) for i in range(1, 10))
    return diagnosis(
        findings=(
            finding(
                severity="critical",
                title="Out of memory before the first step.",
                metric="gpu_mem",
                onset=Moment(),
                evidence=(Evidence("Error", "OutOfMemoryError", where="train.log:8"),),
                rule="oom-cliff",
                chart=Chart("log", log=lines),
            ),
        ),
        curves={},
        epochs=(),
        last_step=0,
        state=State("crashed", "the log ends in a traceback", "likely", 1),
        verdict=Verdict("Out of memory before the first step.", "", "critical"),
    )


def reinforcement() -> Diagnosis:
    """Return a GRPO run whose entropy collapses."""
    names = ("reward", "reward_std", "kl", "entropy", "len_mean", "grad_norm", "reward:format")
    return diagnosis(
        task="grpo",
        curves={name: curve(falling(100, 0.1)) for name in names},
        findings=(
            finding(
                metric="entropy", rule="entropy-collapse", chart=Chart("zoom", ("entropy", "kl"))
            ),
        ),
    )


def unjudged() -> Diagnosis:
    """Return a run of one point: nothing could be judged."""
    return diagnosis(
        curves={"train_loss": curve([2.5])},
        outcomes={"divergence": Outcome("unmet", "1 point of train_loss; 20 are needed")},
        last_step=10,
        epochs=(),
        settings=(),
        events=(),
        log_tail=(),
        sources=(),
        verdict=Verdict("Cannot judge: 1 point of train_loss.", "", "unknown"),
    )


def with_values(values: Mapping[str, Iterable[float]], **changes: Any) -> Diagnosis:
    """Return a diagnosis with these curves, logged every 10 steps."""
    return diagnosis(curves={name: curve(some) for name, some in values.items()}, **changes)


def crowded() -> Diagnosis:
    """Return a run with 60 metrics of 5,000 noisy points and 20 incidents."""
    noisy = [1 + math.sin(i * i) for i in range(5000)]
    names = ["train_loss", "grad_norm", "learning_rate", *(f"metric_{i}" for i in range(57))]
    curves = {name: curve(noisy, every=2.0)._replace(points=90_000) for name in names}
    faults = [
        finding(
            title=f"Fault {i}.",
            metric="train_loss",
            onset=Moment(500.0 * i),
            chart=Chart("curves", ("train_loss", "grad_norm")),
        )
        for i in range(20)
    ]
    return diagnosis(curves=curves, findings=faults, last_step=10_000)


def hostile(words: str = "") -> Diagnosis:
    """Return a diagnosis in which every string of a run is `words`, by default all of HOSTILE."""
    bad = words or " ".join(HOSTILE)
    shown = finding(
        title=bad,
        seen=bad,
        rule=bad,
        evidence=(Evidence(bad, bad, 1.0, bad, bad, 5.0, unit=bad),),
        causes=(Cause(bad, "likely", bad, bad),),
        fixes=(Fix(bad, bad, bad, bad, bad),),
        ruled_out=(RuledOut(bad, bad),),
        confidence=Confidence(0.5, bad),
        chart=Chart("curves", ("train_loss", bad), marks=(Mark(500, 1.2, bad),)),
    )
    log = replace(shown, chart=Chart("log", log=((bad, bad, True), (bad, bad, False))))
    return diagnosis(
        run_id=bad,
        run_name=bad,
        framework=bad,
        task_why=bad,
        state=State("crashed", bad, "guess"),
        sources=(bad,),
        outcomes={
            bad: Outcome("passed", bad),
            bad + "2": Outcome("unmet", bad),
            bad + "3": Outcome("error", bad),
        },
        titles={bad: bad},
        incidents=(Incident((shown, log)), Incident((log,))),
        verdict=Verdict(bad, bad, "critical"),
        problems=(Problem(bad, bad, bad),),
        do_first=Advice(((bad, bad),), (("+", bad), ("-", bad), (bad, bad))),
        curves={**losses(), bad: curve([1.0, NAN, INF])},
        events=(
            Event("message", 5, None, bad, bad, {"last": True, "class": bad}),
            Event("checkpoint", 7, None, bad, bad),
        ),
        settings=(SettingRow(bad, bad, bad, bad), SettingRow(bad, bad, bad)),
        log_tail=(bad,),
    )


SHAPES: dict[str, Callable[[], Diagnosis]] = {
    "healthy": diagnosis,
    "overfitting": overfitting,
    "crashed before the first step": crashed,
    "reinforcement learning": reinforcement,
    "nothing judged": unjudged,
    "hostile": hostile,
    "preference": lambda: diagnosis(
        task="dpo", curves=losses() | {"dpo_margin": curve(falling(30)), "dpo_acc": curve([0.5])}
    ),
    "one unknown metric": lambda: with_values({"odd/name": [1, 2, 3]}),
    "no number at all": lambda: with_values({"train_loss": [NAN] * 30, "grad_norm": [INF, -INF]}),
    "holes": lambda: with_values({"train_loss": [NAN if i % 2 else 1.0 for i in range(300)]}),
    "flat at zero": lambda: with_values({"train_loss": [0.0] * 50, "grad_norm": [0.0] * 50}),
    "largest floats": lambda: with_values({"train_loss": [1e308, -1e308, 5e-324, 1e-300]}),
    "step zero": lambda: diagnosis(
        curves={"train_loss": ThinCurve((0.0,), (1.0,), 1)},
        last_step=0,
        state=State(planned_steps=0),
        findings=(finding(metric="train_loss", onset=Moment(0.0)),),
    ),
    "planned far beyond": lambda: diagnosis(
        last_step=10, state=State("crashed", "x", planned_steps=1_000_000)
    ),
    "huge names": lambda: diagnosis(
        run_name="n" * 5000,
        curves={"m" * 3000: curve([1, 2])},
        findings=(finding(title="t" * 5000, rule="r" * 500),),
    ),
    "finding without a step": lambda: diagnosis(
        findings=(finding(onset=Moment(), metric="", chart=Chart(), evidence=(), fixes=()),)
    ),
    "empty curve": lambda: diagnosis(curves={"train_loss": ThinCurve((), (), 0)}),
}
