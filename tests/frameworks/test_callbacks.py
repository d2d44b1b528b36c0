"""The callbacks inside real trainings: a page at the end, and a stop where the run is lost."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
]
GOOD, HOT = 0.05, 1e4  # learning rates: one learns, one destroys the model


def library(name: str) -> Any:
    """Import a framework; skip where it is not installed."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"{name} is not installed: pip install -e '.[frameworks]'")
    return import_module(name)


def data(rows: int = 256) -> tuple[Any, Any]:
    """Return inputs (n, 8) and targets (n, 1) of a linear law, float32."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 8)).astype(np.float32)
    return x, (x @ rng.normal(size=(8, 1))).astype(np.float32)


def lightning_fit(folder: Path, rate: float, stop_when: Any = None) -> Any:
    """Train a linear model with Lightning; return its Trainer."""
    torch, lightning = library("torch"), library("lightning.pytorch")
    callback = import_module("runlens.integrations.lightning").RunLensCallback

    class Linear(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self, lr: float) -> None:
            super().__init__()
            self.save_hyperparameters({"lr": lr})
            self.layer = torch.nn.Linear(8, 1)

        def _loss(self, batch: Any) -> Any:
            return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

        def training_step(self, batch: Any, _: int) -> Any:
            loss = self._loss(batch)
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch: Any, _: int) -> None:
            self.log("val_loss", self._loss(batch))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)

    x, y = map(torch.from_numpy, data())
    rows = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(rows, batch_size=16)
    trainer = lightning.Trainer(
        max_epochs=12,
        default_root_dir=folder,
        logger=False,
        accelerator="cpu",
        log_every_n_steps=2,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[callback(stop_when=stop_when)],
    )
    trainer.fit(Linear(rate), loader, loader)
    return trainer


def keras_fit(folder: Path, rate: float, stop_when: Any = None) -> Any:
    """Train a linear model with Keras; return its history."""
    library("torch")
    keras = library("keras")
    callback = import_module("runlens.integrations.keras").RunLensCallback
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(rate), loss="mse")
    x, y = data()
    return model.fit(
        x,
        y,
        epochs=12,
        batch_size=16,
        verbose=0,
        validation_data=(x, y),
        callbacks=[callback(folder, stop_when=stop_when)],
    )


def trainer_fit(folder: Path, rate: float, stop_when: Any = None) -> Any:
    """Train a linear model with the Trainer of transformers; return it."""
    torch, transformers = library("torch"), library("transformers")
    callback = import_module("runlens.integrations.transformers").RunLensCallback

    class Linear(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def forward(self, x: Any, labels: Any) -> Any:
            out = self.layer(x)
            return {"loss": torch.nn.functional.mse_loss(out, labels), "logits": out}

    x, y = data()
    rows = [{"x": one, "labels": two} for one, two in zip(x, y, strict=True)]
    args = transformers.TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=12,
        per_device_train_batch_size=16,
        learning_rate=rate,
        max_grad_norm=0.0,
        optim="sgd",
        lr_scheduler_type="constant",
        logging_steps=2,
        logging_nan_inf_filter=False,
        eval_strategy="epoch",
        save_strategy="epoch",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(
        model=Linear(), args=args, train_dataset=rows, eval_dataset=rows,
        callbacks=[callback(stop_when=stop_when)],
    )  # fmt: skip
    trainer.train()
    return trainer


FITS = {"lightning": lightning_fit, "keras": keras_fit, "transformers": trainer_fit}


def steps_of(kind: str, made: Any) -> int:
    """Return how many epochs were trained."""
    if kind == "lightning":
        return int(made.current_epoch)
    return len(made.epoch) if kind == "keras" else round(made.state.epoch)


@pytest.mark.parametrize("kind", FITS)
def test_a_good_training_is_left_alone_and_has_its_page(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All epochs, a verdict on stderr, the page beside the run."""
    made = FITS[kind](tmp_path / "run", GOOD, "critical")
    said = capsys.readouterr().err
    assert steps_of(kind, made) == 12
    assert "training stopped" not in said
    page = tmp_path / "runlens-run.html"
    assert f"RunLens: report in {page}" in said
    assert "val_loss" in page.read_text(encoding="utf-8") or kind == "transformers"


@pytest.mark.parametrize("kind", FITS)
def test_a_training_that_is_lost_is_stopped(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Within a few evaluations, with the reason and where to go on from; the page says it too."""
    made = FITS[kind](tmp_path / "run", HOT, "critical")
    said = capsys.readouterr().err
    assert 2 <= steps_of(kind, made) <= 8, said
    assert "RunLens: training stopped at step" in said
    assert "checkpoint" in said
    assert (tmp_path / "runlens-run.html").stat().st_size > 10_000


@pytest.mark.parametrize("kind", FITS)
def test_it_goes_on_to_the_end_where_nobody_asked_for_a_stop(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The default."""
    made = FITS[kind](tmp_path / "run", HOT)
    assert steps_of(kind, made) == 12
    assert "training stopped" not in capsys.readouterr().err


def test_a_level_that_does_not_exist_is_refused() -> None:
    """Before the training begins."""
    library("keras")
    callback = import_module("runlens.integrations.keras").RunLensCallback
    with pytest.raises(ValueError, match="stop_when='fatal'"):
        callback("run", stop_when="fatal")
