"""The curve that a run is judged by, where none is called a loss or a reward."""

from collections.abc import Callable
from math import log
from pathlib import Path

import pytest

from runlens import read
from runlens.run import Run
from tests.sources import written


def _of_rows(folder: Path, header: str, rows: list[str]) -> Run:
    return written.run_of(folder, "metrics.csv", "\n".join([header, *rows, ""]))


def run_of(folder: Path, *columns: str, values: str = "falling", rows: int = 8) -> Run:
    """Read a table of these columns; each falls, rises, or holds the number of its row."""
    lines = [",".join(("epoch", *(f'"{column}"' for column in columns)))]
    for row in range(1, rows + 1):
        value = {"falling": 2 / row, "rising": row / 10, "counting": float(row)}[values]
        cells = [f"{value + place / 100:g}" for place in range(len(columns))]
        lines.append(",".join((str(row), *cells)))
    (folder / "metrics.csv").write_text("\n".join([*lines, ""]))
    return read(folder)


@pytest.mark.parametrize(
    ("train", "held_out"),
    [
        ("Loss/train", "Loss/val"),
        ("loss/train", "loss/test"),
        ("EpochLoss", "ValLoss"),
        ("losses/total", "val/total_loss"),
        ("train_mse", "val_mse"),
        ("mse_train", "mse_val"),
        ("tr_loss", "va_loss"),
        ("t_loss", "v_loss"),
        ("nll", "dev_nll"),
        ("train/nll_loss", "val/nll_loss"),
        ("cost", "val_cost"),
        ("xent", "xent_dev"),
        ("train/loss_sum", "val/loss_sum"),
        ("training's binary_logloss", "valid_1's binary_logloss"),
        ("train-rmse", "eval-rmse"),
        ("eager-sun-3 - train/loss", "eager-sun-3 - val/loss"),
        ("loss.train.mean", "loss.val.mean"),
    ],
)
def test_both_losses_are_found(tmp_path: Path, train: str, held_out: str) -> None:
    """In any order, with any separator, by any word for the loss."""
    run = run_of(tmp_path, train, held_out)
    assert set(run.history.metrics) == {"train_loss", "eval_loss"}
    assert run.curve("train_loss").value[0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("columns", "values", "found"),
    [
        (("train", "heldout"), "falling", {"train_loss", "eval_loss"}),
        (("train", "test"), "falling", {"train_loss", "eval_loss"}),
        (("train", "valid"), "rising", {"train", "valid"}),  # scores
        (("train", "lr"), "falling", {"train", "learning_rate"}),
        (("train", "heldout", "cost"), "falling", {"train", "heldout", "train_loss"}),
    ],
)
def test_losses_that_are_named_by_their_data_alone(
    tmp_path: Path, columns: tuple[str, ...], values: str, found: set[str]
) -> None:
    """Both fall, and nothing else measures success."""
    assert set(run_of(tmp_path, *columns, values=values).history.metrics) == found


def test_a_single_row_is_no_curve_that_falls(tmp_path: Path) -> None:
    """Of one value nobody knows whether it is a loss."""
    assert "train_loss" not in run_of(tmp_path, "train", "heldout", rows=1).history.metrics


def test_what_was_taken_is_said(tmp_path: Path) -> None:
    """A name that says nothing for sure can be objected to."""
    assert run_of(tmp_path, "xent", "acc").taken == {"train_loss": "xent"}
    assert not run_of(tmp_path, "Loss/train", "acc").taken


def test_a_likelihood_in_the_folder_of_its_model_is_the_loss(tmp_path: Path) -> None:
    """``charlm/nll``, beside the same in bits and the norms of what was updated."""
    run = run_of(tmp_path, "charlm/nll", "charlm/bpc", "optim/grad_l2", "optim/weight_l2")
    assert run.taken == {"train_loss": "charlm/nll"}
    assert {"train_loss", "grad_norm", "optim/weight_l2"} <= set(run.history.metrics)


@pytest.mark.parametrize(
    ("train", "held_out"),
    [("train_nll", "heldout_nll"), ("ce", "eval_ce"), ("eps_mse", "eval_eps_mse")],
)
def test_the_likelihood_of_pairs_is_the_loss_of_a_model_of_rewards(
    tmp_path: Path, train: str, held_out: str
) -> None:
    """It begins at that of the margin beside it; noise that is predicted has a loss as well."""
    rows = [f"{n},{0.7 - n / 50},{0.71 - n / 60},{n / 50}" for n in range(12)]
    margin = "other" if "mse" in train else "margin"
    run = _of_rows(tmp_path, f"step,{train},{held_out},{margin}", rows)
    assert run.taken == {"train_loss": train, "eval_loss": held_out}


def test_the_likelihood_of_words_beside_a_margin_is_a_part(tmp_path: Path) -> None:
    """As those that hold an answer to what was shown; nor where the answers are logged too."""
    rows = [f"{n},{3.7 - n / 9},{n / 50},{n / 9 - 1}" for n in range(12)]
    assert not _of_rows(tmp_path, "step,nll,margin,x", rows).taken
    low = [f"{n},{0.7 - n / 50},{n / 50},{n / 9}" for n in range(12)]
    assert not _of_rows(tmp_path, "step,nll,margin,chosen_rewards", low).taken


@pytest.mark.parametrize(
    "columns",
    [
        ("train/nll_loss", "train/kl_loss"),  # which of them, and in what sum?
        ("mse", "kl"),
        ("value_loss", "mse"),  # of reinforcement learning: no measure of it
        ("loss_G", "loss_D"),
        ("aux_loss", "accuracy"),
        ("box_loss", "cls_loss"),
        ("best_val_loss", "accuracy"),
        ("lr", "accuracy"),
        ("policy/nll", "accuracy"),  # a folder of a part
        ("teacher/nll", "student/nll"),  # of which model?
        ("charlm/nll", "reward"),
    ],
)
def test_a_part_is_not_the_loss(tmp_path: Path, columns: tuple[str, ...]) -> None:
    """It may be a part, or a means to an end."""
    assert not {"train_loss", "eval_loss"} & set(run_of(tmp_path, *columns).history.metrics)


@pytest.mark.parametrize("columns", [("mse", "loss"), ("kl_loss", "total_loss"), ("nll", "loss")])
def test_a_loss_comes_before_its_parts(tmp_path: Path, columns: tuple[str, str]) -> None:
    """Whatever their order."""
    part, whole = columns
    run = run_of(tmp_path, *columns)
    assert run.curve("train_loss").value[0] == pytest.approx(2.01)
    assert part in run.history.metrics
    assert not run.taken, whole


def test_what_a_loss_was_taken_over_is_no_part_of_it(tmp_path: Path) -> None:
    """How many tokens, or how long it took."""
    run = run_of(tmp_path, "train_mean_nll", "num_loss_tokens", "loss_time")
    assert run.taken["train_loss"] == "train_mean_nll"
    assert not run_of(tmp_path, "train_mean_nll", "aux_loss").taken


def test_an_evaluation_of_another_kind_is_not_that_of_the_loss(tmp_path: Path) -> None:
    """Their distance would say nothing, unless they begin at one level."""
    for level, name in ((40, "eval_mse"), (1, "eval_loss")):
        rows = [f"{n},{2 / n + 1:.4f},{level * (2 / n + 1):.4f}" for n in range(1, 9)]
        (tmp_path / "metrics.csv").write_text("\n".join(["epoch,loss,val_mse", *rows, ""]))
        assert set(read(tmp_path).history.metrics) == {"train_loss", name}


def test_a_bound_that_rises_is_no_loss(tmp_path: Path) -> None:
    """An ELBO and a likelihood are driven up: their negative is the loss, and that is said."""
    for name in ("elbo", "log_likelihood", "train_ll"):
        run = run_of(tmp_path, name, values="rising")
        value = run.curve("train_loss").value
        assert value[-1] < value[0] < 0
        assert any(f'the negative of "{name}" was used' in problem.text for problem in run.problems)
    run = run_of(tmp_path, "neg_elbo", values="falling")
    value = run.curve("train_loss").value
    assert value[-1] < value[0]
    assert not any("the negative of" in problem.text for problem in run.problems)
    assert value[0] > 0


@pytest.mark.parametrize("name", ["train_loss", "reward", "Loss/train"])
def test_the_number_of_a_row_is_no_metric(tmp_path: Path, name: str) -> None:
    """A table that was flattened may call its index a loss."""
    run = run_of(tmp_path, name, "lr", values="counting")
    assert not {"train_loss", "reward"} & set(run.history.metrics)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (("eval/success_rate", "rollout/ep_len_mean"), "eval_success_rate"),
        (("Score", "episode length"), "Score"),
        (("Training Score", "Rewards", "Episodes"), "Rewards"),
        (("eval/mean_reward", "n_updates"), "eval_reward"),
    ],
)
def test_an_agent_is_judged_by_what_it_logs(
    tmp_path: Path, columns: tuple[str, ...], name: str
) -> None:
    """Where it logs no reward of its training."""
    assert run_of(tmp_path, *columns).taken == {"reward": name}


def test_a_score_beside_losses_is_no_reward(tmp_path: Path) -> None:
    """A loss of each component is logged by spaCy, and the score of an evaluation."""
    assert not run_of(tmp_path, "LOSS NER", "LOSS TOK2VEC", "SCORE").taken


def test_time_of_an_iteration_is_told_by_the_data_loader_s(tmp_path: Path) -> None:
    """Detectron2 and mmengine call it "time" alone; elsewhere that is a clock."""
    assert "step_time" in run_of(tmp_path, "loss", "time", "data_time").history.metrics
    assert "step_time" not in run_of(tmp_path, "loss", "time").history.metrics


def test_epochs_of_an_update_are_not_those_of_the_training(tmp_path: Path) -> None:
    """What PPO calls so is done over each rollout again."""
    (tmp_path / "progress.csv").write_text("step,rollout/ep_rew_mean\n1,0.5\n2,0.7\n3,0.9\n")
    config = tmp_path / "config.yaml"
    config.write_text("learning_rate: 3e-4\nbatch_size: 64\nn_epochs: 10\n")
    assert read(tmp_path).number("num_train_epochs") == 10
    config.write_text(config.read_text() + "gae_lambda: 0.95\nn_steps: 2048\n")
    run = read(tmp_path)
    assert run.number("num_train_epochs") is None
    assert run.number("num_iterations") == 10


def test_a_perplexity_is_the_power_of_a_loss(tmp_path: Path) -> None:
    """Where it alone is logged, the loss is its logarithm; below 1 it is something else."""
    rows = [f"{n},{20 / n + 2:.4f},{24 / n + 2:.4f}" for n in range(1, 9)]
    (tmp_path / "metrics.csv").write_text("\n".join(["epoch,train_ppl,val_ppl", *rows, ""]))
    run = read(tmp_path)
    assert run.curve("train_loss").value[0] == pytest.approx(log(22))
    assert run.curve("eval_loss").value[0] == pytest.approx(log(26))
    assert run.curve("train_ppl").value[0] == pytest.approx(22)
    assert "train_loss" not in run_of(tmp_path, "train_ppl", "acc").history.metrics
    rows = [f"{n},{1 / n + 1:.4f},{24 / n + 2:.4f}" for n in range(1, 9)]
    (tmp_path / "metrics.csv").write_text("\n".join(["epoch,train_loss,val_ppl", *rows, ""]))
    run = read(tmp_path)
    assert run.curve("eval_loss").value[0] == pytest.approx(log(26), abs=1e-4)
    said = next(str(problem) for problem in run.problems)
    assert "does not name its evaluation loss, so the logarithm of eval_ppl was used" in said


@pytest.mark.parametrize(
    ("generator", "real", "judged"),
    [("G_GAN", 0.7, True), ("G_GAN", -0.7, False), ("speed", 0.7, False)],
)
def test_the_halves_of_a_discriminator_are_its_loss(
    tmp_path: Path, generator: str, real: float, judged: bool
) -> None:
    """Beside the loss of a generator; below zero they are scores (pix2pix logs no sum)."""
    head = "================ Training Loss (Mon Nov  1 16:57:01 2021) ================"
    rows = [
        f"(epoch: {n}, iters: 100, time: 0.2, data: 0.1) {generator}: 0.9{n} D_real: {real} "
        f"D_fake: 0.{n}"
        for n in range(1, 9)
    ]
    (tmp_path / "loss_log.txt").write_text("\n".join([head, *rows, ""]))
    run = read(tmp_path)
    assert ("d_loss" in run.history.metrics) == judged
    if judged:
        assert run.curve("d_loss").value[1] == pytest.approx((0.7 + 0.2) / 2)
        assert "the mean of D_real and D_fake was used" in str(run.problems)


@pytest.mark.parametrize(
    ("columns", "values", "found"),
    [
        (("NER loss", "speed"), "falling", "train_loss"),
        (("NER loss", "speed"), "rising", "NER loss"),
        (("kl loss", "speed"), "falling", "kl loss"),  # a part
        (("mask loss", "speed"), "falling", "mask loss"),
        (("mask loss",), "falling", "train_loss"),  # nothing else is logged
        (("critic loss",), "falling", "critic loss"),
        (("NER loss", "tagger loss"), "falling", "NER loss"),  # which of them is not said
        (("NER loss", "loss_scaled"), "falling", "train_loss"),
        (("loss_scaled", "speed"), "falling", "train_loss"),
    ],
)
def test_the_only_loss_is_the_loss(
    tmp_path: Path, columns: tuple[str, ...], values: str, found: str
) -> None:
    """Whatever word stands before it."""
    run = run_of(tmp_path, *columns, values=values)
    assert found in run.history.metrics


def test_an_accuracy_below_zero_is_none(tmp_path: Path) -> None:
    """A coefficient of determination may be called so; of a classifier it cannot be."""
    rows = "".join(f"{n},{2 / n},{1 - 3 / n}\n" for n in range(1, 12))
    (tmp_path / "metrics.csv").write_text(f"epoch,train_loss,val_acc\n{rows}")
    run = read(tmp_path)
    assert set(run.history.metrics) == {"train_loss", "eval_r2"}
    assert run.task == "regression"


@pytest.mark.parametrize("name", ["Loss/Train_Step", "loss/train_batch", "loss/step"])
def test_a_loss_whose_name_ends_with_a_step_is_no_counter(tmp_path: Path, name: str) -> None:
    """The last part says of what it is the mean, and the column is not the step."""
    run = run_of(tmp_path, name)
    assert len(run.curve("train_loss")) == 8
    assert run.last_step == 8


def test_an_evaluation_loss_of_batches_counts_where_no_other_is_logged(tmp_path: Path) -> None:
    """Lightning's val_loss_step alone is the evaluation loss."""
    assert len(run_of(tmp_path, "train_loss", "val_loss_step").curve("eval_loss")) == 8
    both = run_of(tmp_path, "train_loss", "val_loss_step", "val_loss")
    assert both.curve("eval_loss").value[0] == pytest.approx(2.02)


def test_a_loss_by_no_other_name_counts_though_it_rises(tmp_path: Path) -> None:
    """``loss_log`` says no more than loss; what has a word of its own may be driven up."""
    assert len(run_of(tmp_path, "loss_log", values="rising").curve("train_loss")) == 8
    assert not len(run_of(tmp_path, "NER loss", values="rising").curve("train_loss"))


@pytest.mark.parametrize(
    ("name", "losses", "taken"),
    [
        ("seg loss", (0.2, 0.15, 0.12, 0.6, 0.59, 0.58), True),
        ("seg loss", (0.2, 0.19, 0.18, 0.6, 0.59, 0.58), False),  # it hardly came down before
        ("seg loss", (0.2, 0.21, 0.12, 0.6, 0.59, 0.58), False),
        ("actor loss", (0.2, 0.15, 0.12, 0.6, 0.59, 0.58), False),
        ("actor loss", (0.6, 0.5, 0.4, 0.3, 0.2, 0.1), False),
        ("seg loss", (0.6, 0.5, 0.4, 0.3, 0.2, 0.1), True),
    ],
)
def test_a_loss_that_is_logged_alone_is_no_part(
    tmp_path: Path, name: str, losses: tuple[float, ...], taken: bool
) -> None:
    """Whatever its word, but of a policy or a generator; it may have risen after it fell."""
    rows = "".join(f"{n},{value}\n" for n, value in enumerate(losses))
    (tmp_path / "metrics.csv").write_text(f"epoch,{name}\n{rows}")
    assert bool(len(read(tmp_path).curve("train_loss"))) == taken


def test_a_loss_that_was_off_is_not_the_loss(tmp_path: Path) -> None:
    """The other one is."""
    rows = "".join(f"{n},{2 / n},0.0\n" for n in range(1, 12))
    (tmp_path / "metrics.csv").write_text(f"epoch,loss_tgt_mean,extra_loss\n{rows}")
    assert len(read(tmp_path).curve("train_loss")) == 11


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (lambda n: (2.1234 / n, 90 + n / 3), True),
        (lambda n: (90 + n / 3, 2.1234 / n), True),
        (lambda n: (2.0 / n, 90 + n / 3), False),  # a learning rate is as round
        (lambda n: (1 - n / 17.3, n / 17.3), False),  # an error
        (lambda n: (2.1234 / n, 98 + n / 3), False),  # no share
        (lambda n: (2.1234 / n, 2.5 / n), False),
        (lambda n: (2.1234 + n % 2, 90 + n / 3), False),
        (lambda n: (1.1234 - n, 90 + n / 3), False),  # below zero
        (lambda n: (2.1234 / n, 90 + n / 3, n / 7), False),
    ],
)
def test_columns_that_nobody_named_are_told_by_their_course(
    tmp_path: Path, columns: Callable[[int], tuple[float, ...]], found: bool
) -> None:
    """One falls and is no rate, the other rises to a share; that it was guessed is said."""
    rows = (" ".join(f"{v:.6f}" for v in columns(n)) for n in range(1, 15))
    lines = [f"{n} {row}" for n, row in enumerate(rows)]
    (tmp_path / "training.log").write_text("\n".join([*lines, ""]))
    run = read(tmp_path / "training.log")
    assert (len(run.curve("train_loss")) == 14) == found
    assert (
        any("does not name its training loss" in problem.text for problem in run.problems) == found
    )


@pytest.mark.parametrize(
    "line",
    [
        "{n}th error num -> {wrong}",
        "epoch {n}: number of errors = {wrong}",
        "Epoch {n}, misclassified: {wrong}",
        "epoch {n} mistakes {wrong} / 900",
        "epoch {n} error rate: {rate:.4f}",
    ],
)
def test_wrong_answers_are_counted(tmp_path: Path, line: str) -> None:
    """Or their share is told: fewer are better, as of a loss, and it is said what was taken."""
    wrong = [round(900 / n) for n in range(1, 21)]
    rows = [line.format(n=n, wrong=some, rate=some / 900) for n, some in enumerate(wrong, 1)]
    (tmp_path / "train.log").write_text("\n".join([*rows, ""]))
    run = read(tmp_path)
    value = run.curve("train_loss").value
    assert len(value) == len(wrong)
    assert value[0] in {900, 1}
    assert any("does not name its training loss" in one.text for one in run.problems)


def test_wrong_answers_of_two_kinds_of_data(tmp_path: Path) -> None:
    """Beside an accuracy, or a loss, they are none; the fewest so far are none either."""
    run = run_of(tmp_path, "train_error_count", "val_error_count", "test_error_count")
    assert run.taken == {"train_loss": "train_error_count", "eval_loss": "eval_error_count"}
    run = run_of(tmp_path, "train_wrong_answers", "train_accuracy", "best_error_count")
    assert not run.taken
    assert run_of(tmp_path, "loss", "val_error_count").taken == {}
    assert run_of(tmp_path, "best_error_count", "step_time").taken == {}


def of_parts(folder: Path, header: str, line: str, *, off: float = 0.0) -> Run:
    """Read rows of three parts of a loss and their sum, which is `off` in each row."""
    rows = []
    for n in range(1, 31):
        parts = [round(part / n + part / 7 * (n % 3), 3) for part in (4, 3, 5)]
        rows.append(line.format(n, *parts, round(sum(parts) * (1 + off), 2)))
    (folder / ("losses.csv" if header else "losses.log")).write_text("\n".join([header, *rows, ""]))
    return read(folder)


@pytest.mark.parametrize(
    ("header", "line", "total"),
    [
        ("", "Epoch {} | B: {} | C: {} | M: {} | T: {}", "T"),
        ("", "epoch {} X: {} Y: {} Z: {} S: {}", "S"),
        ("epoch,B,C,M,T", "{},{},{},{},{}", "T"),
    ],
)
def test_a_total_that_no_name_says(tmp_path: Path, header: str, line: str, total: str) -> None:
    """It is the sum of its parts, but for rounding."""
    run = of_parts(tmp_path, header, line)
    assert dict(run.taken) == {"train_loss": total}
    assert run.curve("train_loss").value[0] == pytest.approx(13.71)


def test_letters_that_are_no_sum_are_none(tmp_path: Path) -> None:
    """Nor are two of them, or such of other steps."""
    line = "Epoch {} | B: {} | C: {} | M: {} | T: {}"
    assert not of_parts(tmp_path, "", line, off=0.1).taken
    assert not of_parts(tmp_path, "", "Epoch {} | B: {} | T: {}").taken
    assert not of_parts(tmp_path, "", "Epoch {0} | B: {1} | C: {2}\nEpoch {0}5 | T: {4}").taken


def test_a_score_beside_each_evaluation_loss_is_of_evaluation(tmp_path: Path) -> None:
    """``dev loss: 0.5, f1 score: 0.9``; not one that is logged with training rows as well."""
    rows = [f"Epoch: {n}, dev loss: {1 / n:.4f}, f1 score: {0.5 + n / 50:.3f}" for n in range(1, 9)]
    (tmp_path / "train.log").write_text("\n".join([*rows, ""]))
    assert "eval_f1_score" in read(tmp_path).history.metrics
    more = [f"{row}\nEpoch: {n}, f1 score: 0.4, step {n}" for n, row in enumerate(rows, 1)]
    (tmp_path / "train.log").write_text("\n".join([*more, ""]))
    assert len(read(tmp_path).history.metrics) > 1


@pytest.mark.parametrize(
    ("columns", "generator"),
    [
        (("d_loss", "disc_real_loss", "gan_loss"), True),
        (("mean_disc_loss", "Avg GAN loss"), True),
        (("d_loss", "gan_loss", "l1_loss"), False),  # a part of the generator's
        (("d_loss", "cycle_loss"), False),
        (("d_loss", "loss"), False),
        (("gan_loss", "critic_loss"), False),
    ],
)
def test_the_loss_of_a_gan_is_that_of_its_generator(
    tmp_path: Path, columns: tuple[str, ...], *, generator: bool
) -> None:
    """Beside that of the discriminator and no other."""
    assert ("g_loss" in run_of(tmp_path, *columns).history.metrics) == generator


@pytest.mark.parametrize(("total", "found"), [("a_loss", "train_loss"), ("a_score", "a_score")])
def test_a_loss_that_is_the_sum_of_all_others_is_their_total(
    tmp_path: Path, total: str, found: str
) -> None:
    """Whatever it is called."""
    rows = [f"{n},{5 / n + 0.25:g},{4 / n:g},{1 / n + 0.25:g}" for n in range(1, 9)]
    (tmp_path / "log.csv").write_text("\n".join([f"epoch,{total},b_loss,c_loss", *rows, ""]))
    assert read(tmp_path / "log.csv").curve(found).value[0] == 5.25


@pytest.mark.parametrize(
    ("columns", "values", "found"),
    [
        (("mAP", "loss"), "rising", {"eval_map", "train_loss"}),
        (("NDCG@10", "Recall@20"), "rising", {"eval_ndcg_10", "eval_recall_at_20"}),
        (("train_mAP", "best_mAP"), "rising", {"train_mAP", "best_mAP"}),  # of known data, a record
        (("mAP", "val_map"), "rising", {"mAP", "eval_map"}),
        (("mAP", "map"), "rising", {"eval_map", "map"}),
        (("recall", "precision"), "rising", {"recall", "precision"}),  # of classes, of any rows
        (("feature map",), "rising", {"feature map"}),
        (("zs_mAP",), "rising", {"eval_zs_map"}),
    ],
)
def test_a_score_of_a_ranking_is_of_held_out_data(
    tmp_path: Path, columns: tuple[str, ...], values: str, found: set[str]
) -> None:
    """Wherever it stands, but not what names its data, nor the best so far."""
    assert set(run_of(tmp_path, *columns, values=values).history.metrics) == found


def test_a_map_above_per_cent_is_no_score(tmp_path: Path) -> None:
    """No share is."""
    rows = "".join(f"{n},{n * 20},{3 / n}\n" for n in range(1, 9))
    (tmp_path / "metrics.csv").write_text(f"epoch,heat map,loss\n{rows}")
    assert set(read(tmp_path).history.metrics) == {"heat map", "train_loss"}


@pytest.mark.parametrize(
    ("end", "loss", "rows", "held_out", "told"),
    [
        (0.3, 0.1, 20, True, "eval_accuracy"),
        (0.3, 0.8, 20, True, "train_accuracy"),  # the loss hardly fell
        (0.59, 0.1, 20, True, "train_accuracy"),
        (0.9, 0.1, 20, True, "train_accuracy"),  # best at last
        (0.3, 0.1, 8, True, "train_accuracy"),  # few
        (0.3, 0.1, 20, False, "train_accuracy"),
    ],
)
def test_an_accuracy_that_falls_while_training_learns_is_of_evaluation(
    tmp_path: Path, end: float, loss: float, rows: int, *, held_out: bool, told: str
) -> None:
    """Of the rows whose loss halves no fewer are right."""
    lines = ["epoch,loss,other" + ",val_loss" * held_out + ",accuracy"]
    for n in range(rows):
        share = n / (rows - 1)
        right = 0.1 + 0.5 * share * 5 if share < 0.2 else 0.6 + (end - 0.6) * (share - 0.2) / 0.8
        cells = [n, f"{2 + (2 * loss - 2) * share:.4f}", n % 3, *["1.5"] * held_out, f"{right:.4f}"]
        lines.append(",".join(map(str, cells)))
    (tmp_path / "metrics.csv").write_text("\n".join([*lines, ""]))
    assert told in read(tmp_path).history.metrics


@pytest.mark.parametrize(
    ("columns", "values", "found"),
    [
        (("player0_winrate", "player0_win"), "rising", "reward"),
        (("player0_winrate", "player1_winrate"), "rising", "player0_winrate"),  # of both sides
        (("best_win_rate_of_arm",), "rising", "best_win_rate_of_arm"),  # a record
    ],
)
def test_the_one_win_rate_is_what_an_agent_is_judged_by(
    tmp_path: Path, columns: tuple[str, ...], values: str, found: str
) -> None:
    """Whoever wins; what one player gains another loses."""
    assert found in run_of(tmp_path, *columns, values=values).history.metrics


def test_a_return_comes_before_rewards_of_steps(tmp_path: Path) -> None:
    """As rlkit writes both."""
    run = run_of(tmp_path, "evaluation/Rewards Mean", "evaluation/Returns Mean", values="rising")
    assert run.curve("reward").value[0] == pytest.approx(0.11)


@pytest.mark.parametrize(("values", "found"), [("falling", "train_loss"), ("rising", "Energy")])
def test_an_energy_is_a_loss_where_it_falls(tmp_path: Path, values: str, found: str) -> None:
    """On a meter it adds up."""
    assert found in run_of(tmp_path, "Energy", "Humidity", values=values).history.metrics


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (("rewards/proxy/mean", "kl"), True),
        (("rewards/proxy/mean", "rewards/form/mean", "kl"), False),  # parts of a sum
        (("rewards/proxy/mean", "speed"), False),  # nothing says that a policy is trained
    ],
)
def test_one_reward_function_is_the_reward(
    tmp_path: Path, columns: tuple[str, ...], *, named: bool
) -> None:
    """Where no sum is logged beside it."""
    metrics = run_of(tmp_path, *columns, values="rising").history.metrics
    assert ("reward" in metrics) is named
