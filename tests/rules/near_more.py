"""More cases drawn by hand on either side of a limit: one row a border, value after value."""

from collections.abc import Sequence

from runlens.rules.cases import Case, message
from runlens.rules.lifecycle.ending import SILENCE
from runlens.rules.rule import drawn
from runlens.run import Event, State
from tests.rules.near_limits import EDGES, teeth

FALLS = "0:2.2 900:0.9"
RATE = "0:2e-5 900:2e-5"
HANGS = (int(0.8 * SILENCE), int(1.2 * SILENCE))
UP, TURN = (1.0, 1.3), (1.0, 1.15, 1.3, 1.15, 1.0, 1.15, 1.3, 1.0, 1.3, 1.0)


def evaluations(values: Sequence[float]) -> Case:
    """Draw evaluations, 50 steps apart, and nothing else."""
    text = " ".join(f"{50 * at}:{value}" for at, value in enumerate(values, 1))
    return drawn("evaluations", noise=0.0, eval_loss=text)


def overflows(steps: Sequence[int], last: int = 900) -> Case:
    """Draw a log that tells of an overflow at each of these steps."""
    events = tuple(
        Event("message", step, text="OVERFLOW!", data={"row": 44, "class": "num"}) for step in steps
    )
    return drawn("overflows", train_loss=f"0:2.2 {last}:1", events=events)


def low_rate(first: int, last: int, end: float = 1e-8) -> Case:
    """Draw a rate far below the usual that is logged on a part of the run, and not configured."""
    return drawn(
        "low", noise=0.0, train_loss="0:2 900:1.9", learning_rate=f"{first}:1e-8 {last}:{end}"
    )


def slowed(until: int) -> Case:
    """Draw 900 steps at 100 a second, of which the ones from 500 on are five times slower."""
    speed = f"0:100 500:100 501:20 {until}:20 {until + 1}:100 900:100"
    return drawn("slowed", noise=0.001, throughput_steps=speed)


def lagging(accuracy: float) -> Case:
    """Draw a flat evaluation whose accuracy gains some of the 0.15 that training gains."""
    return drawn(
        "lagging",
        task="classification",
        noise={"train_loss": 0.01, "eval_accuracy": 1e-4},  # a straight line would lie on a grid
        train_loss="0:3.6 100:3 600:2.5",
        train_accuracy="0:0.1 600:0.25",
        eval_loss="50:2.9 600:2.88",
        eval_accuracy=f"50:0.15 600:{accuracy}",
    )


def kept(lowest: float, end: float) -> Case:
    """Draw evaluations that get to their lowest in the second half, and end above it."""
    return drawn(
        "kept",
        noise=0.002,
        train_loss="0:2.4 200:1.6 800:0.7",
        eval_loss=f"50:2.2 200:1.6 400:1.5 600:{lowest} 800:{end}",
    )


def units(unit: float) -> Case:
    """Draw a loss that is written as one to three units."""
    text = " ".join(
        f"{10 * at}:{(1, 3, 1, 2, 1, 1, 3, 2, 1, 1)[at % 10] * unit}" for at in range(60)
    )
    return drawn("units", noise=0.0, task="classification", train_loss=text)


MORE: dict[str, tuple[Case, ...]] = {
    "eval-gap": (
        *(kept(1.4, end) for end in (1.42, 1.45, 1.46)),
        *(kept(low, 1.02 * low) for low in (1.49, 1.497, 1.5)),
    ),
    "plateau": (
        *(
            drawn("level", noise=0.001, task="dpo", train_loss=f"0:0.8 60:{at} 900:{at}")
            for at in (0.685, 0.68)
        ),
        *(
            drawn("still", noise=0.0, task="regression", train_loss=f"0:11 100:0.5109 2000:{at}")
            for at in (0.510835, 0.5108)
        ),
        drawn(
            "spent",
            noise=0.0,
            task="regression",
            train_loss="0:11 100:0.5109 2000:0.5107",
            eval_loss="50:0.6 2000:0.6",
        ),
        *(drawn("few", noise=0.001, train_loss=f"0:8 20:5 {last}:5") for last in (100, 140)),
        *(
            drawn(
                "learned",
                noise=0.001,
                task="classification",
                train_loss=f"0:{start} 60:{level} 900:{level}",
            )
            for start, level in ((0.38, 0.30), (0.42, 0.40))
        ),
    ),
    "not-learning": (
        units(1e-6),
        units(0.1),
        *(
            drawn(
                "an accuracy that gains about a tenth",
                noise=0.0,
                task="classification",
                train_loss="0:11 200:9.9 900:8.6",
                eval_accuracy=f"0:0.17 300:0.17 400:{end} 900:{end}",
                steps_per_epoch=90,
            )
            for end in (0.1845, 0.1904)
        ),
    ),
    "oscillation": (
        units(1e-6),
        units(0.1),
        evaluations(UP * 5),
        evaluations((*UP * 3, 1.0)),
        evaluations((1.0, 1.19) * 5),
        evaluations(TURN),
        drawn(
            "evaluations whose score stays",
            noise=0.0,
            eval_loss=" ".join(f"{50 * at}:{1.0 + at % 2 * 1.4}" for at in range(1, 13)),
            eval_accuracy="50:0.98 600:0.98 /50",
        ),
        drawn(
            "a score that is gone at two of the last twenty",
            noise=0.0,
            eval_loss=" ".join(f"{50 * at}:{1.0 + at % 2 * 0.5}" for at in range(1, 41)),
            eval_iou=" ".join(f"{50 * at}:{0.5 * (at % 8 > 0)}" for at in range(1, 41)),
        ),
    ),
    "loss-scale-collapse": (
        overflows([*range(100, 180, 10), 500, 600]),
        overflows([*range(100, 210, 10), 220]),
        overflows([60, 70, 80, 90, 100, 105, 110, 115], 120),
        overflows(range(12), 10),
        drawn(
            "grew first",
            train_loss=FALLS,
            loss_scale="0:16 100:65536 400:65536 410:64 900:64",
        ),
        drawn(
            "grew first",
            train_loss=FALLS,
            loss_scale="0:16 100:65536 400:65536 410:90 900:90",
        ),
        drawn(
            "at its floor",
            train_loss=FALLS,
            events=(Event("message", 300, text="minimum", data={"row": 43, "class": "num"}),),
        ),
        *(
            drawn("skips", noise=0.0, train_loss="0:2.2 170:1", skipped=f"0:0 60:0 160:{some}")
            for some in (8, 12)
        ),
    ),
    "loss-spike": (
        *(
            drawn(
                "beside a fall over decades",
                task="regression",
                train_loss=f"0:150 30:0.4 500:0.4 510:{top} 520:0.4 600:0.4 610:{top} 620:0.4 "
                f"700:0.4 710:{top} 720:0.4 2000:0.4",
            )
            for top in (1.3, 1.7)
        ),
        *(
            drawn(
                "preferences",
                noise=0.05,
                task="dpo",
                train_loss=f"0:0.54 100:0.0012 510:0.0012 520:{top} 530:0.0012 2500:0.0012 "
                f"2510:{top} 2520:0.0012 3000:0.0012",
            )
            for top in (0.018, 0.025)
        ),
        drawn("far", noise=0.0, train_loss="0:3 10:2.5 20:300 30:2.2 40:2.1"),
        drawn("far", noise=0.0, train_loss="0:3 10:2.5 20:200 30:2.2 40:2.1"),
        *(
            drawn(
                "early",
                noise=0.003,
                train_loss=f"0:1.5 {at - 10}:1.5 {at}:6 {at + 10}:1.5 2000:1.5",
            )
            for at in (30, 50)
        ),
    ),
    "length-growth": tuple(
        drawn(
            "pays",
            task="grpo",
            noise=0.002,
            len_mean="0:110 200:120 600:480 900:505",
            len_clipped="0:0 300:0.1 900:0.9",
            len_max="0:400 300:512 900:512",
            reward=f"0:1 900:{end}",
        )
        for end in (1.085, 1.13)
    ),
    "zero-reward-std": tuple(
        drawn("spread", noise=0.0, task="grpo", reward_std=f"0:{std} 600:{std}")
        for std in (8e-7, 1.2e-6)
    )
    + tuple(
        drawn(
            f"{below} below its best",
            noise=0.0,
            task="grpo",
            frac_zero_std="0:0.3 290:0.6 300:1 600:1",
            reward=f"0:0.1 290:1 300:{1 - below} 600:{1 - below}",
        )
        for below in (0.015, 0.025)
    ),
    "reward-flat": (
        *(
            drawn(
                f"{points} points",
                noise=0.3,
                task="rl",
                reward=f"0:-5 {10 * points - 10}:-5",
            )
            for points in (40, 70)
        ),
        *(
            drawn(
                "falls a little",
                noise=0.2,
                task="rl",
                reward="0:-12 2000:-14",
                state=State("crashed", done_steps=2000, planned_steps=plan),
            )
            for plan in (5900, 7500)
        ),
        *(
            drawn(
                f"little {number}",
                noise=noise,
                task="rl",
                reward=f"0:300 1500:300 1510:{end} 3000:{end}",
            )
            for number, noise, end in (
                (1, 0.13, 312),
                (0, 0.13, 318),
                (5, 0.2, 322),
                (5, 0.3, 336),
                (0, 0.3, 345),
            )
        ),
        drawn("f", noise=0.3, task="rl", reward="0:100 1000:100 1010:113 3000:113"),
        *(
            drawn(
                f"ten points, {share} of a percent in order",
                noise=0.0,
                task="ppo",
                reward=" ".join(
                    f"{10 * at}:{300 + scale * value:.2f}"
                    for at, value in enumerate((1.4, 1.1, 1.2, 1.5, 1.7, 1.3, 1, 1.6, 1.8, 1.9))
                ),
            )
            for share, scale in (("0.4", 2), ("0.6", 3))
        ),
    ),
    "crashed": tuple(
        drawn(
            "words at the end of the log",
            state=State("crashed", said, "likely", done_steps=160),
            events=(message(said, "fallback", 99, 160, exception=said, words=sure, frame=frame),),
            train_loss="0:2.2 160:1.6",
        )
        for said, sure, frame in (
            ("Error: No such file or directory: 'data/train.bin'", "likely", ""),
            ("ERROR - the command 'make' returned exit status 2", "certain", ""),
            ("fatal: nothing to do", "certain", "train.py:12 in main"),
        )
    ),
    "grad-zero": (
        *(
            drawn("tiny", noise=0.0, train_loss="0:1.4 900:1.4", grad_norm=f"0:{norm} 900:{norm}")
            for norm in (1e-7, 1.4e-7)
        ),
        *(
            drawn(
                "gone",
                noise=0.0,
                train_loss="0:1.4 900:1.4",
                grad_norm=f"0:1 600:1 601:{norm} 900:{norm}",
            )
            for norm in (0.8e-6, 1.2e-6)
        ),
        drawn(
            "few differ",
            task="grpo",
            noise=0.0,
            reward="0:0.3 600:0.3",
            grad_norm="0:0 600:0",
            frac_zero_std="0:0.9 600:0.9",
        ),
    ),
    "lr-zero": (
        *(
            drawn(
                "nearly gone",
                train_loss=FALLS,
                learning_rate=f"0:1e-3 300:1e-3 310:{rate} 900:{rate}",
            )
            for rate in (0.8e-12, 1.2e-12)
        ),
        *(
            drawn(
                "of almost nothing",
                task="other",
                train_loss="0:300 40:420 80:290 900:299",
                learning_rate=f"0:{rate} 900:{rate}",
            )
            for rate in (1e-8, 1e-7)
        ),
    ),
    "lr-out-of-range": (
        low_rate(0, 30),
        low_rate(0, 50),
        low_rate(160, 900),
        low_rate(240, 900),
        low_rate(0, 900, 2e-8),
    ),
    "throughput-drop": (slowed(800), slowed(700)),
    "no-clipping": tuple(
        drawn("limit", train_loss=FALLS, config=config, framework=framework)
        for config, framework in (
            ({"max_grad_norm": 8.0}, "transformers"),
            ({"max_grad_norm": 12.0}, "transformers"),
            ({}, "lightning"),
        )
    ),
    "eval-too-rare": tuple(
        drawn(
            "rare",
            train_loss="0:2.2 1000:1",
            eval_loss=f"{every}:2 {5 * every}:1.9 /{every}",
            config={"eval_steps": every},
            state=State("crashed", done_steps=1000, planned_steps=1000),
        )
        for every in (160, 250)
    ),
    "resume-jump": tuple(
        drawn(
            "low rate",
            noise=0.0,
            train_loss="0:3 290:1.2 600:1.1",
            learning_rate=f"0:1e-3 100:1e-4 290:1e-4 300:{1e-4 + off} 600:{1e-4 + off}",
            events=(Event("resume", 300),),
        )
        for off in (1.7e-5, 2.5e-5)
    ),
    "killed": (
        drawn(
            "by hand",
            train_loss="0:2.2 160:1.6",
            state=State("killed", "Ctrl-C", "certain", done_steps=160),
            events=(message("KeyboardInterrupt", "kill", 14, 160),),
        ),
    ),
    "nan-loss": (
        *(
            drawn("said", train_loss=FALLS, events=(message("NaN loss", "num", 85, at, last=last),))
            for at, last in ((950, True), (500, True), (500, False))
        ),
        Case("nameless", {"column 2": "0:1.6 290:1.5 300:nan 500:nan"}),
    ),
    "hidden-nan": (
        drawn(
            "of another framework",
            framework="lightning",
            train_loss="0:2.2 400:1.2 410:0 900:0",
            learning_rate=RATE,
        ),
    ),
    "nan-grad": (
        drawn("began later", train_loss=FALLS, grad_norm="0:nan 850:1 900:1", noise=0.001),
    ),
    "eval-flat": (
        lagging(0.18),
        lagging(0.20),
        drawn("not computed", noise=0.0, train_loss="0:3 900:0.5", eval_loss="50:0 900:0"),
    ),
    "nan-eval": (
        drawn(
            "infinite a little later than in the young run",
            train_loss="0:2.2 300:1.3 900:0.9",
            eval_loss="50:2.5 130:inf 150:2.4 900:1.1 /10",
        ),
    ),
    "hockey-stick": (
        drawn(
            "back from a hump by a little more than a half",
            noise=0.0,
            train_loss="0:2 300:1.5 900:1.2",
            eval_loss="50:1.9 300:1.5 310:2.1 600:2.1 620:1.79 900:1.79",
        ),
        drawn(
            "training came down from its hump alone",
            noise=0.0,
            train_loss="0:1 300:1.5 900:1.2",
            eval_loss="50:1.9 300:1.2 900:1.9",
        ),
        drawn(
            "accuracy alone",
            noise=0.003,
            task="classification",
            train_accuracy="0:0.4 900:0.99",
            eval_accuracy="50:0.4 250:0.8 900:0.7",
        ),
        *(
            drawn(
                "few samples",
                noise=0.002,
                train_loss="0:3 900:0.3",
                eval_loss="50:2.5 300:1.5 900:3",
                eval_runtime="50:10 900:10",
                eval_throughput_samples=f"50:{samples / 10} 900:{samples / 10}",
                steps_per_epoch=100,
            )
            for samples in (25, 35)
        ),
        *(
            drawn(
                f"three of three, to {last}",
                noise=0,
                train_loss="0:2 150:0.3",
                eval_loss=f"50:1 100:1.1 150:{last}",
            )
            for last in (1.17, 1.25)
        ),
    ),
    "sawtooth": (
        teeth(0.8, config={"group_by_length": True}),
        teeth(0.8, eval_loss="150:2 2000:1 /150"),
        teeth(0.8, steps_per_epoch=450.0),
        teeth(0.8, level=0.1, task="other"),
        teeth(0.8, level=1.5, task="other"),
    ),
    "low-utilisation": (
        drawn("policy", task="grpo", mfu="0:0.01 900:0.01", reward="0:0.1 900:0.5"),
    ),
    "oom-cliff": (drawn("nothing is told", train_loss=FALLS),),
    "known-error": (
        drawn("nothing is told", train_loss=FALLS),
        drawn(
            "of each row",
            train_loss=FALLS,
            events=(message("Token indices", "data", 60, 160, last=False, count=50),),
        ),
    ),
    "stopped-early": (
        drawn("no plan", train_loss=FALLS, state=State("stopped_early", "?", "likely")),
        *(
            drawn(
                "an excerpt",
                train_loss=FALLS,
                state=State("finished", "exit code 0", "certain", 0, 210, 230, excerpt=cut),
            )
            for cut in (False, True)
        ),
        drawn(
            "classes of a test",
            eval_dice="1:0.9 8:0.8",
            state=State("stopped_early", "a.log", "guess", done_steps=8, planned_steps=30_000),
        ),
        drawn(
            "scores at the beginning",
            eval_dice="1:0.9 8:0.8",
            state=State("stopped_early", "a.log", "guess", done_steps=8, planned_steps=6_000),
        ),
        drawn(
            "a start",
            train_loss="1:0.9 8:0.8",
            state=State("stopped_early", "a.log", "guess", done_steps=8, planned_steps=30_000),
        ),
        drawn(
            "a bar alone",
            gpu_util="0:50 100:50",
            state=State("stopped_early", "?", "likely", 0, done_steps=100, planned_steps=900),
        ),
    ),
    "hang": tuple(
        drawn(
            "silent",
            seconds_per_step=0.2,
            train_loss="0:2.2 160:1.6",
            heartbeat=f"160:1 {160 + 5 * seconds}:1",
            state=State("stopped_early", "none", "likely", done_steps=160, planned_steps=400),
        )
        for seconds in HANGS
    ),
    "schedule-mismatch": (
        drawn(
            "at its peak late in the plan, in three rows",
            noise=0.0,
            steps_per_epoch=100,
            train_loss="0:2 400:1",
            learning_rate="290:1e-5 310:1e-5 /10",
            config={
                "lr_scheduler_type": "cosine",
                "learning_rate": 1e-5,
                "num_train_epochs": 4,
            },
        ),
        *(
            drawn(
                "ended above zero",
                train_loss=FALLS,
                learning_rate=f"0:1e-3 900:{end}",
                config={"lr_scheduler_type": "linear"},
                state=State("finished", "done", "certain", 0, done_steps=900, planned_steps=900),
            )
            for end in (1.8e-4, 2.5e-4)
        ),
    ),
    "preference-collapse": tuple(
        drawn(
            "displaced",
            noise=0.01,
            task="dpo",
            train_loss="0:0.69 600:0.3",
            dpo_acc="0:0.5 600:0.9",
            dpo_margin="0:0 600:2",
            logp_chosen="0:-100 600:-150",
            dpo_chosen=f"0:0 300:{end} 600:{end}",
        )
        for end in (-0.8, -1.2)
    ),
    "kl-blow-up": (
        drawn(
            "high at first",
            task="grpo",
            noise=0.001,
            kl="0:30 40:30 50:0.1 600:0.1",
            reward="0:0.1 600:0.5",
        ),
    ),
    "stuck-at-chance": tuple(
        drawn(
            "little done",
            noise=0.001,
            task="classification",
            config={"num_labels": 4},
            train_loss="0:1.3863 400:1.3863",
            state=State("crashed", done_steps=400, planned_steps=round(400 / share)),
        )
        for share in (0.08, 0.12)
    ),
    "reward-stuck-zero": (
        drawn(
            "another moves",
            task="grpo",
            noise=0.0,
            reward="0:0 600:0",
            my_reward="0:0.1 600:0.7",
        ),
        drawn("hardly above", task="grpo", noise=0.3, reward="0:1e-4 600:1e-4"),
    ),
    "memory-growth": (
        drawn(
            "steps",
            noise=0.0,
            gpu_mem="0:10 450:20 550:20 551:21.5 650:21.5 651:23 750:23 751:24.5 850:24.5 851:26 "
            "900:26",
        ),
    ),
    "zero-loss": (
        *(
            drawn(
                "one batch", noise=0.0, train_loss="0:4 100:0.01 900:0.001", steps_per_epoch=steps
            )
            for steps in (1.5, 2.5)
        ),
        *(
            drawn(
                "never evaluated",
                train_loss="0:3.4 200:1.5 500:0.3 700:0.1 1000:0.06",
                steps_per_epoch=steps,
            )
            for steps in (238.0, 166.0)
        ),
    ),
    "grad-explosion": (
        *(
            drawn(
                f"bounded {name}",
                train_loss="0:2.2 300:1.3 900:0.9",
                grad_norm="0:1 400:1 500:300 900:300",
                framework=framework,
                config=config,
            )
            for name, framework, config in (
                ("by nothing that is known", "lightning", {}),
                ("by nothing", "transformers", {"max_grad_norm": 0.0}),
            )
        ),
        *(
            drawn("few", noise=0.0, train_loss="0:2 10:1.9", grad_norm=f"0:{norm} 10:{norm}")
            for norm in (8e3, 1.2e4)
        ),
        *(
            drawn(
                "climbed",
                noise=0.01,
                train_loss="0:2.2 300:1.3 900:0.9",
                grad_norm=f"0:0.3 400:0.3 500:{top} 900:{top}",
            )
            for top in (8.0, 12.0)
        ),
    ),
    "clip-saturation": (
        *(
            drawn(
                "few points",
                config={"max_grad_norm": 1.0},
                train_loss=f"0:2.2 {last}:2.2",
                grad_norm=f"0:20 {last}:20",
            )
            for last in range(30, 80, 10)
        ),
        drawn("unknown", framework="lightning", train_loss=FALLS, grad_norm="0:1 900:1"),
        drawn(
            "in warm-up as well",
            train_loss=FALLS,
            grad_norm="0:4 900:4",
            learning_rate="0:0 200:1e-4 900:1e-5",
        ),
    ),
    "divergence": tuple(
        drawn(
            "rises again, of an unknown task",
            noise=0.003,
            task="other",
            train_loss=f"0:4 400:1 900:{end} 1000:{end}",
        )
        for end in (1.45, 1.75)
    ),
    "warmup-shock": (
        drawn(
            "at a rate that moves nothing",
            task="other",
            train_loss="0:300 40:900 100:850 200:300 900:250",
            learning_rate="0:1e-8 900:1e-8",
        ),
    ),
    "missing-signal": (
        drawn("never evaluated", train_loss=FALLS, config={"eval_strategy": "no"}),
        drawn("timed", train_loss=FALLS, seconds_per_step=1.0),
        drawn("of blocks", task="grpo", reward="0:0.1 600:0.5", ebft_cfm="0:0.1 600:0.1"),
    ),
}
NEAR = {slug: (*EDGES.get(slug, ()), *MORE.get(slug, ())) for slug in {**EDGES, **MORE}}
