"""Logs in the words, letters and decimals of other languages."""

from pathlib import Path

import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.naming import words
from runlens.run import Run

LOSS = [round(2 / n + 0.1234, 4) for n in range(1, 13)]
ACC = [round(1 - 0.7 / n, 3) for n in range(1, 13)]
HELD = [round(value + 0.25, 4) for value in LOSS]


def run_of(folder: Path, row: str, *, comma: bool = False) -> Run:
    """Read a log of twelve rows."""
    rows = []
    for n, numbers in enumerate(zip(LOSS, ACC, HELD, strict=True), 1):
        said = [str(one).replace(".", ",") if comma else one for one in numbers]
        rows.append(row.format(n=n, l=said[0], a=said[1], v=said[2]))
    (folder / "log.txt").write_text("\n".join(rows) + "\n")
    return read(folder / "log.txt")


@pytest.mark.parametrize(
    "row",
    [
        "Epoca {n} di 12: perdita {l}, accuratezza {a}",
        "Epoka {n}/12 strata: {l} dokładność: {a}",
        "Dönem {n}/12 kayıp: {l} doğruluk: {a}",
        "Devir {n}/12 - kayıp: {l} - doğruluk: {a}",
        "Epoch thứ {n}/12: mất mát = {l}, độ chính xác = {a}",
        "Epoche {n} van 12: verlies {l}, nauwkeurigheid {a}",
        "Epok {n}/12: förlust {l} noggrannhet {a}",
        "Epocha {n}/12: ztráta {l} přesnost {a}",
        "Epoch {n}/12: kerugian {l} akurasi {a}",
        "Епоха {n}/12: втрати {l}, точність {a}",
        "الحقبة {n}/12: الخسارة {l} الدقة {a}",
        "Εποχή {n}/12: απώλεια {l} ακρίβεια {a}",
        "Epoch {n}/12: हानि {l} सटीकता {a}",
        "Epoch {n}/12: אובדן {l} דיוק {a}",
        "Epoch {n}/12: زیان {l} دقت {a}",
    ],
)
def test_a_loss_and_an_accuracy(tmp_path: Path, row: str) -> None:
    """At their epochs, of as many as are said."""
    run = run_of(tmp_path, row)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_accuracy").value.tolist() == ACC
    assert run.state.planned_epochs == 12


@pytest.mark.parametrize(
    "row",
    [
        "Epoca {n}: perdita di addestramento {l} - perdita di validazione {v}",
        "Epoka {n} | strata treningowa={l} | strata walidacyjna={v}",
        "Epok {n} - eğitim kaybı: {l} - doğrulama kaybı: {v}",
        "Epoche {n}: verlies {l}, validatieverlies {v}",
    ],
)
def test_a_loss_on_both_data(tmp_path: Path, row: str) -> None:
    """Words in any order, and words that are written as one."""
    run = run_of(tmp_path, row)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("eval_loss").value.tolist() == HELD


@pytest.mark.parametrize(
    "row",
    [
        "Epoche {n}: Verlust {l}; Genauigkeit {a}",
        "epoch={n} loss={l}, acc={a}",
        "2024-03-01 10:00:{n:02d},250 epoch {n} | loss {l} | acc {a} | shape (3,64)",
    ],
)
def test_commas_for_points_among_words(tmp_path: Path, row: str) -> None:
    """Behind no bracket, and no part of a clock."""
    run = run_of(tmp_path, row, comma=True)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_accuracy").value.tolist() == ACC


def test_commas_of_thousands_stay(tmp_path: Path) -> None:
    """Where other numbers have points, and where all that follows are three digits."""
    run = run_of(tmp_path, "step {n}0,000 loss {l} seen 12,50")
    assert run.curve("train_loss").step.tolist() == [10_000 * n for n in range(1, 13)]
    (tmp_path / "log.txt").write_text(
        "".join(f"step {n}0,000 reward {n},500\n" for n in range(1, 9))
    )
    assert read(tmp_path / "log.txt").curve("reward").value[0] == 1500


def test_a_number_sign_before_the_counter(tmp_path: Path) -> None:
    """It begins the line."""
    run = run_of(tmp_path, "#{n}: {l} / {v}")
    assert run.curve("column 2").value.tolist() == LOSS
    assert run.curve("column 2").step.tolist() == list(range(1, 13))


TWISTED = [("gb18030", "训练 损失"), ("cp1251", "потери")]


@pytest.mark.parametrize("written", ["utf-8", "utf-16"])
@pytest.mark.parametrize(("encoding", "word"), TWISTED)
def test_a_text_that_was_taken_for_one_of_another_encoding(
    tmp_path: Path, written: str, encoding: str, word: str
) -> None:
    """PowerShell reads what Python prints so, and writes it in UTF-16."""
    rows = "".join(f"epoch {n}: {word}: {v}\n" for n, v in enumerate(LOSS, 1))
    twisted = rows.encode().decode(encoding, errors="replace")
    (tmp_path / "log.txt").write_bytes(twisted.encode(written))
    assert read(tmp_path / "log.txt").curve("train_loss").value.tolist() == LOSS


@pytest.mark.parametrize(
    "row",
    [
        "Epoche {n}: Verlust {l}, Treffer {a} | Prüfverlust {v}",
        "Durchgang {n}: Trainingsverlust {l}; Genauigkeit {a}; Validierungsverlust {v}",
        "Durchlauf {n}: Verlust {l}; Trefferquote {a}; Testverlust {v}",
    ],
)
def test_german_words_that_are_written_as_one(tmp_path: Path, row: str) -> None:
    """What is of which data stands before what is measured."""
    run = run_of(tmp_path, row, comma=True)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_accuracy").value.tolist() == ACC
    assert run.curve("eval_loss").value.tolist() == HELD


@pytest.mark.parametrize(
    ("head", "metric"),
    [
        ("Schritt,Verlust", "train_loss"),
        ("Paso,pérdida", "train_loss"),
        ("Epoka,strata", "train_loss"),
        ("Durchgang,Lernrate,criterion", "train_loss"),
        ("Durchgang,Kosten", "train_loss"),
        ("Schritt,Lernrate", "learning_rate"),
    ],
)
def test_counters_in_the_head_of_a_table(tmp_path: Path, head: str, metric: str) -> None:
    """The user may still call the column as the file does."""
    width = head.count(",")
    rows = [f"{10 * n}" + f",{1 / n + 0.01:.4f}" * width for n in range(1, 12)]
    (tmp_path / "lauf7.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    assert read(tmp_path).curve(metric).step.tolist() == [10 * n for n in range(1, 12)]
    counter = head.partition(",")[0]
    named = read(tmp_path, columns={"step": counter})
    assert named.curve(metric).step.tolist() == [10 * n for n in range(1, 12)]


def test_a_table_of_other_things_in_another_language_is_no_log(tmp_path: Path) -> None:
    """A step alone measures nothing."""
    rows = "".join(f"{n},{40 - n}\n" for n in range(1, 12))
    (tmp_path / "menge.csv").write_text(f"Schritt,Menge\n{rows}")
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_a_german_head_above_aligned_columns_names_them(tmp_path: Path) -> None:
    """Signs within the names are no borders."""
    head = "Durchgang      J   Fehler%   J_test  Fehler_test%\n"
    rows = "".join(f"{n:9d}  {2 / n:.3f}     86.0   {2.1 / n:.3f}     87.4\n" for n in range(1, 9))
    (tmp_path / "verlauf.txt").write_text(head + rows)
    run = read(tmp_path / "verlauf.txt")
    assert set(run.history.metrics) == {"train_loss", "eval_loss", "Fehler%", "Fehler_test%"}
    assert run.curve("train_loss").step.tolist() == list(range(1, 9))


@pytest.mark.parametrize(
    ("row", "metrics"),
    [
        ("Durchgang {n}/12   Kreuzentropie {l}   Fehlerquote 0.{n}", {"train_loss"}),
        ("Schritt {n} Verlust {l} Entropie {v}", {"train_loss", "entropy"}),
        ("Époque {n} : entropie croisée {l}, justesse {a}", {"train_loss", "train_accuracy"}),
        ("Эпоха {n}/12 | потери {l} | скорость обучения {v}", {"train_loss", "learning_rate"}),
        ("Эпоха {n} | кросс-энтропия {l} | доля правильных ответов {a}",
         {"train_loss", "train_accuracy"}),
        ("第{n}轮 交叉熵={l} 梯度范数={v}", {"train_loss", "grad_norm"}),
        ("迭代{n}次 损失 {l} 准确率 {a}", {"train_loss", "train_accuracy"}),
        ("エポック {n} 損失: {l} エントロピー: {v}", {"train_loss", "entropy"}),
        ("[ Info: it={n}  ℓ={l} aciertos={a}", {"train_loss"}),
        ("Schritt {n}: Rückgabe {a}, Q {v}", {"reward"}),
    ],
)  # fmt: skip
def test_words_of_few_logs(tmp_path: Path, row: str, metrics: set[str]) -> None:
    """A loss by its kind, an entropy, a rate; and what counts before its measure word."""
    run = run_of(tmp_path, row)
    assert metrics <= set(run.history.metrics)
    assert all(len(run.curve(name)) == 12 for name in metrics)


def test_a_script_letter_with_an_index_is_no_loss(tmp_path: Path) -> None:
    """A norm, or a part of one."""
    run = run_of(tmp_path, "it {n} loss {l} ℓ₂={v} ℓ1={a}")
    assert run.curve("train_loss").value.tolist() == LOSS
    assert "eval_loss" not in run.history.metrics


def test_a_loss_that_is_called_by_its_unit(tmp_path: Path) -> None:
    """Where nothing has a better name; of a divergence it is the unit."""
    rows = "".join(f"{n},{one}\n" for n, one in enumerate(LOSS, 1))
    (tmp_path / "lm_trace.csv").write_text(f"it,nats\n{rows}")
    assert read(tmp_path).curve("train_loss").value.tolist() == LOSS
    (tmp_path / "lm_trace.csv").write_text(f"it,kl nats\n{rows}")
    assert "train_loss" not in read(tmp_path).history.metrics


def test_words_that_are_cut_at_a_point(tmp_path: Path) -> None:
    """In the head of a table, where they fit its columns."""
    head = " Durchl.   Verlust  Genauigk.      F1\n"
    rows = "".join(f"{n:8d}    {2 / n:.4f}     0.9{n % 9}25  0.0000\n" for n in range(1, 13))
    (tmp_path / "modell.log").write_text(f"Trainingssatz: 3200 Zeilen\n{head}{rows}")
    run = read(tmp_path)
    assert set(run.history.metrics) == {"train_loss", "train_accuracy", "F1"}
    assert run.curve("train_loss").step.tolist() == list(range(1, 13))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Genauigk.", ("acc",)),
        ("Strat.", ("strat",)),
        ("Recomp.", ("recomp",)),
        ("loss.", ("loss",)),
        ("losses.", ("loss",)),
        ("train.loss", ("train", "loss")),
    ],
)
def test_what_several_words_begin_with_is_none_of_them(name: str, said: tuple[str, ...]) -> None:
    """A cut word is known where one meaning alone begins so, and few other words do."""
    assert words(name) == said
