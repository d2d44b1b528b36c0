"""Trains one weight with Lightning's loggers: ``python lightning_runs.py FOLDER``."""

import sys

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch.utils.data import DataLoader


class Line(LightningModule):
    """Fits a line; logs its training and validation loss."""

    def __init__(self, learning_rate: float = 0.05) -> None:
        """Keep the settings, which Lightning writes into ``hparams.yaml``."""
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(1, 1)
        self.learning_rate = learning_rate

    def _loss(self, batch: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.mse_loss(self.layer(batch), 3 * batch)

    def training_step(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the loss of a batch."""
        loss = self._loss(batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch: torch.Tensor) -> None:
        """Log the loss of a batch."""
        self.log("val_loss", self._loss(batch))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return plain SGD."""
        return torch.optim.SGD(self.parameters(), lr=self.learning_rate)


torch.manual_seed(1)
data = DataLoader(torch.rand(64, 1), batch_size=4)
trainer = Trainer(
    max_epochs=2,
    accelerator="cpu",
    logger=[CSVLogger(sys.argv[1], name="csv"), TensorBoardLogger(sys.argv[1], name="events")],
    log_every_n_steps=2,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Line(), data, data)
