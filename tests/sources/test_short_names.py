"""Names of a letter or two: what stands beside them says what they are, or nothing does."""

from pathlib import Path

import pytest

from runlens.run import Run
from tests.sources.written import run_of

FALLS = [round(2 / n + 0.1, 4) for n in range(1, 13)]
RISES = [round(1 - 0.9 / n, 4) for n in range(1, 13)]
LONG = [float(n + 9) for n in range(12)]
STEPS = [0.1] * 6 + [0.01] * 6
VALUES = {"falls": FALLS, "rises": RISES, "long": LONG, "sinks": [-n / 9 for n in range(12)],
    "far": [-40.5 - n for n in range(12)],
    "stands": STEPS, "decays": [0.9**n for n in range(12)],
    "left": [n / 12 for n in range(12, 0, -1)],
    "above": [round(one + 0.2, 4) for one in FALLS]}  # fmt: skip


def logged(folder: Path, said: str) -> Run:
    """Write a table of some columns, ``R=rises KL=falls``, and read it."""
    names = dict(one.split(":") for one in said.split())
    head = "\t".join(["iter", *(name.replace("_of_", " ") for name in names)])
    columns = [VALUES[course] for course in names.values()]
    rows = ["\t".join(map(str, [n, *row])) for n, row in enumerate(zip(*columns, strict=True), 1)]
    return run_of(folder, "progress.tsv", "\n".join([head, *rows]) + "\n")


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("R:rises KL:falls loss:falls len:long", {"reward": RISES, "len_mean": LONG}),
        ("R:rises entropy:falls", {"reward": RISES}),
        ("G:rises H:falls pg_loss:sinks", {"reward": RISES, "entropy": FALLS}),
        ("G:rises policy_loss:falls", {"reward": RISES}),
        ("R_mean:rises eps:falls loss:falls", {"reward": RISES}),
        ("r:rises q:falls loss:falls", {"reward": RISES}),
        ("R:rises H:falls len:long", {"reward": RISES, "entropy": FALLS}),
        ("rm_score:rises mean_len:long at_limit:rises gold_acc:falls kl:falls",
         {"reward": RISES, "len_mean": LONG, "len_clipped": RISES}),
        ("rm_score:rises resp_len:long avg_len:long hit_max:rises gold_reward:rises",
         {"reward": RISES, "len_clipped": RISES, "eval_reward": RISES}),
        ("loss:falls pref_acc:rises r+:rises r-:sinks",
         {"dpo_chosen": RISES, "dpo_acc": RISES, "train_loss": FALLS}),
        ("L:falls pref_acc:rises chosen:rises rejected:sinks",
         {"dpo_chosen": RISES, "train_loss": FALLS}),
        ("dpo:falls acc:rises r_pos:rises r_neg:sinks",
         {"train_loss": FALLS, "dpo_acc": RISES, "dpo_chosen": RISES}),
        ("ipo:falls chosen:rises rejected:sinks", {"train_loss": FALLS, "dpo_chosen": RISES}),
        ("nats/char:falls grad:falls", {"train_loss": FALLS, "grad_norm": FALLS}),
        ("RM:rises KL:falls resp_len:long", {"reward": RISES, "len_mean": LONG}),
        ("R:rises H:falls KL:falls", {"reward": RISES, "entropy": FALLS}),
        ("R:rises H:falls KLref:falls", {"reward": RISES, "kl": FALLS}),
        ("R:rises ent:falls KL:falls", {"reward": RISES, "entropy": FALLS}),
        ("loss:falls lr:falls g:rises", {"train_loss": FALLS, "grad_norm": RISES}),
        ("lD:falls lG:rises", {"d_loss": FALLS, "g_loss": RISES}),
        ("bpc:falls val_bpc:falls", {"train_loss": FALLS, "eval_loss": FALLS}),
        ("errD:falls errG:rises", {"d_loss": FALLS, "g_loss": RISES}),
        ("dpo_loss:falls logp_w:far logp_l:far margin:rises acc_pair:rises",
         {"train_loss": FALLS, "dpo_margin": RISES, "dpo_acc": RISES,
          "logp_chosen": VALUES["far"], "logp_rejected": VALUES["far"]}),
        ("loss:falls margin:rises logps_preferred:far logps_dispreferred:far",
         {"dpo_margin": RISES, "logp_chosen": VALUES["far"], "logp_rejected": VALUES["far"]}),
        ("Ld:rises Lg:falls p_fake:rises", {"d_loss": RISES, "g_loss": FALLS}),
        ("L:falls Lv:falls", {"train_loss": FALLS, "eval_loss": FALLS}),  # they begin alike
        ("Lpi:sinks Lv:falls R:rises ent:falls",
         {"policy_loss": VALUES["sinks"], "value_loss": FALLS, "reward": RISES}),
        ("loss:falls eta:stands", {"learning_rate": STEPS}),
        ("loss:falls eta:decays", {"learning_rate": VALUES["decays"]}),
        ("T:falls V:above lr:falls", {"train_loss": FALLS, "eval_loss": VALUES["above"]}),
        ("obj/kl:falls env/score:rises policy/ent:falls len:long",
         {"reward": RISES, "kl_seq": FALLS, "entropy": FALLS, "len_mean": LONG}),
        ("score:rises tokens/answer:long cut_of_at_of_max_new:rises kl(ref):falls H(policy):falls",
         {"reward": RISES, "len_mean": LONG, "len_clipped": RISES, "kl": FALLS, "entropy": FALLS}),
    ],
)  # fmt: skip
def test_others_say_what_it_is(tmp_path: Path, said: str, ours: dict[str, list[float]]) -> None:
    """A reward beside an entropy, a length beside the score of a reward model, a unit of a loss."""
    run = logged(tmp_path, said)
    assert {name: run.curve(name).value.tolist() for name in ours} == ours


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("P:rises R:rises loss:falls len:long", "R"),  # a recall
        ("R:rises loss:falls", "R"),  # a correlation
        ("R:rises R_mean:rises entropy:falls", "R"),  # two of them
        ("val_R:rises entropy:falls loss:falls", "eval_r"),
        ("R_max:rises entropy:falls", "R_max"),
        ("loss:falls acc:rises mean_len:long", "mean_len"),  # of sentences
        ("reward:rises kl:falls mean_len:long episode_time:long", "mean_len"),  # of episodes
        ("reward:rises kl:falls truncated:rises", "truncated"),  # of what length?
        ("rm_score:rises mean_len:long truncated:long", "truncated"),  # how many, no share
        ("rm_score:rises gold_sum:rises mean_len:long", "gold_sum"),
        ("loss:falls chosen:rises rejected:sinks", "chosen"),  # nothing says of what
        ("loss:falls pref_acc:rises chosen:far rejected:far", "chosen"),  # log-probabilities
        ("loss:falls pref_acc:rises r_of_x:rises r-:sinks", "r-"),
        ("loss:falls pref_acc:rises logp_w:rises logp_l:rises", "logp_w"),  # probabilities
        ("loss:falls logp_w:far logp_l:far", "logp_w"),  # nothing says of what
        ("dpo_loss:falls sft_loss:falls pref_acc:rises", "dpo_loss"),  # a part of it
        ("score:rises entropy:falls loss:falls", "score"),  # held to no other policy
        ("H:falls loss:falls", "H"),
        ("dpo:falls acc:rises", "dpo"),  # no pair beside it
        ("dpo:falls ipo:falls r_pos:rises r_neg:sinks", "dpo"),  # which of both?
        ("G:rises D:falls ent:falls", "G"),  # of a generator
        ("G:rises loss:falls", "G"),
        ("loss:falls H:sinks R:rises len:long", "H"),  # no entropy is below 0
        ("loss:falls bpc:falls", "bpc"),  # the loss has a name
        ("val_bpc:falls lr:falls", "eval_bpc"),  # of held-out data alone
        ("loss:falls grad:sinks", "grad"),  # no norm is below 0
        ("loss:falls grad:falls grad_norm:falls", "grad"),
        ("Ld:rises loss:falls", "Ld"),  # one alone
        ("loss:falls g:falls", "g"),  # of a generator, it may be
        ("loss:falls lr:falls g:sinks", "g"),  # no norm is below 0
        ("loss:falls ent:falls", "ent"),  # of what?
        ("loss:falls eta:left", "eta"),  # the time that is left, in hours
        ("loss:falls eta:long", "eta"),  # in seconds
        ("loss:falls eta:stands lr:falls", "eta"),  # the rate has a name
        ("T:falls V:rises lr:falls", "T"),  # a temperature and a value
        ("T:falls V:above loss:falls", "V"),  # the loss has a name
    ],
)
def test_or_nobody_does(tmp_path: Path, said: str, stays: str) -> None:
    """Its name stays as it was logged."""
    run = logged(tmp_path, said)
    assert stays in run.history.metrics


def test_both_signs_of_a_pair_in_a_line(tmp_path: Path) -> None:
    """The minus belongs to the name, and neither is the reward of an agent."""
    rows = zip(FALLS, RISES, VALUES["sinks"], strict=True)
    text = "".join(
        f"step {n:4}  L={one}  pref_acc={two}  r+={two:+.3f}  r-={three:+.3f}\n"
        for n, (one, two, three) in enumerate(rows, 1)
    )
    run = run_of(tmp_path, "pref.log", text)
    assert run.task == "dpo"
    assert "reward" not in run.history.metrics
    assert run.curve("dpo_rejected").value[-1] == round(VALUES["sinks"][-1], 3)


@pytest.mark.parametrize("name", ["|g|", "‖g‖", "||g||", "grad"])
def test_a_norm_as_formulas_write_it(tmp_path: Path, name: str) -> None:
    """Between strokes, or as the gradient of which one number is left."""
    rows = zip(FALLS, RISES, strict=True)
    text = "".join(f"it {n}  loss {a}  {name} {b}\n" for n, (a, b) in enumerate(rows, 1))
    assert run_of(tmp_path, "log.txt", text).curve("grad_norm").value.tolist() == RISES


def test_letters_of_formulas(tmp_path: Path) -> None:
    """A mean with its bar above, the policy as a Greek letter."""
    rows = zip(RISES, FALLS, strict=True)
    text = "".join(f"upd {n:3}: R̄ = {a}, π-entropy = {b}\n" for n, (a, b) in enumerate(rows, 1))
    run = run_of(tmp_path, "seed0.log", text)
    assert run.curve("reward").value.tolist() == RISES
    assert run.curve("entropy").value.tolist() == FALLS
    assert run.task == "rl"
    assert any('"R" was used' in problem.text for problem in run.problems)


@pytest.mark.parametrize("name", ["R\u030415", "R\u0304_100", "R\u0304"])
def test_over_how_many_a_bar_is_a_mean(tmp_path: Path, name: str) -> None:
    """Beside how often an agent tries at random; its extremes are not it."""
    rows = zip(RISES, FALLS, strict=True)
    text = "".join(
        f"ep {15 * n:4} frames={40 * n} {name}={a:+.3f} Rmin={a - 2:+.2f} Rmax=+0.9{n} eps={b}\n"
        for n, (a, b) in enumerate(rows, 1)
    )
    run = run_of(tmp_path, "dqn.log", text)
    assert run.curve("reward").value.tolist() == [round(one, 3) for one in RISES]
    assert {"Rmin", "Rmax"} <= set(run.history.metrics)


def test_a_number_in_a_name_without_a_bar_belongs_to_it(tmp_path: Path) -> None:
    """``R15`` may be the reward of a task, or a recall."""
    rows = zip(RISES, FALLS, strict=True)
    text = "".join(f"ep {n} R15={a} eps={b} loss={b}\n" for n, (a, b) in enumerate(rows, 1))
    assert "reward" not in run_of(tmp_path, "dqn.log", text).history.metrics


def test_an_objective_alone_beside_signed_rewards(tmp_path: Path) -> None:
    """``dpo=0.69 acc=0.61 r+=+0.001 r-=-0.001``: each sign belongs to its name."""
    rows = zip(FALLS, RISES, VALUES["sinks"], strict=True)
    text = "".join(
        f"12:00:{n:02} | INFO | fit:88 - [ {n:3}/12] dpo={a} acc={b} r+={b:+.3f} r-={c:+.3f}"
        f" lr=1e-4 |g|={a:.2f}\n"
        for n, (a, b, c) in enumerate(rows, 1)
    )
    run = run_of(tmp_path, "pref.log", text)
    assert run.task == "dpo"
    assert run.curve("train_loss").value.tolist() == FALLS
    assert {"dpo_acc", "dpo_chosen", "dpo_rejected", "grad_norm"} <= set(run.history.metrics)


def test_initials_of_data_at_other_rows(tmp_path: Path) -> None:
    """Nothing says that they are of the same epochs."""
    rows = [f"epoch {n} T {one} V {one + 0.2:.4f}" for n, one in enumerate(FALLS, 1)]
    run = run_of(tmp_path, "a.log", "\n".join([*rows, "epoch 13 T 0.2"]) + "\n")
    assert {"T", "V"} <= set(run.history.metrics)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("--eps-start 0.0 --eps-end 0.0", True),
        ("--exploration-fraction 0.1", True),
        ("--eps 1e-8", False),  # of an optimizer
        ("--warmup-start 0.0", False),
    ],
)
def test_a_letter_beside_settings_of_an_agent_that_explores(
    tmp_path: Path, given: str, *, told: bool
) -> None:
    """Else ``R`` may be a recall, or a correlation."""
    rows = [f"t={400 * n:5d} ep={10 * n:4d} R=-0.400 loss={v:.4f}" for n, v in enumerate(FALLS, 1)]
    run = run_of(tmp_path, "run.log", "\n".join([f"$ python dqn.py {given}", *rows]) + "\n")
    assert bool(len(run.curve("reward"))) is told
    assert (run.task == "rl") is told
