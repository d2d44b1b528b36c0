"""What trainings print when they have come to their end: a row a sentence, with an example.

A sentence counts where no row stands behind it and where nothing like it was printed before, as
loops do at the end of each epoch. To add one: a row of `CLOSING` with a line as it was printed.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from runlens.records import NamedTuple
from runlens.sources.console.forms import by_form
from runlens.sources.console.spans import shape

LONGEST = 300  # characters of a line


class Closing(NamedTuple):
    """One sentence: its form, a line that has it, and who prints it."""

    form: str
    line: str
    who: str


CLOSING = (
    Closing(r"`?Trainer\.fit`? stopped: `max_\w+=[^`]+` reached",
            "`Trainer.fit` stopped: `max_epochs=500` reached.", "Lightning"),
    Closing(r"^training completed\. do not forget to share",
            "Training completed. Do not forget to share your model on huggingface.co/models =)",
            "transformers"),
    Closing(r"\bend of training\b", "INFO 2024-10-01 12:00:00 train.py:338 End of training",
            "LeRobot"),
    Closing(r"\btraining (?:is |was |has )?(?:now )?(?:done|completed?|finished|ended|over)\b",
            "Training complete in 15m 3s", "PyTorch's tutorials, own loops"),
    Closing(r"\b(?:finished|completed|done|ended) (?:with )?(?:the )?training\b",
            "Finished Training", "PyTorch's tutorials"),
    Closing(r"\bdone training in [\d.]+ seconds", "2021-01-01 | INFO | fairseq_cli.train | "
            "done training in 9471.2 seconds", "fairseq"),
    Closing(r"^\W*training time:? \d+ ?(?:days?, )?[\d:]+", "Training time 1 day, 2:03:04",
            "DETR, MAE, DINO, Swin"),
    Closing(r"\btotal training time:? ", "[01/01 10:00:00 d2.engine.hooks]: Total training time: "
            "0:32:12 (0:00:08 on hooks)", "detectron2"),
    Closing(r"\boverall training speed: [\d,]+ iterations in",
            "Overall training speed: 899 iterations in 0:32:04", "detectron2"),
    Closing(r"\b\d+ epochs completed in [\d.]+ hours", "100 epochs completed in 1.204 hours.",
            "Ultralytics"),
    Closing(r"\bloss for final step: ", "INFO:tensorflow:Loss for final step: 0.0025.",
            "TensorFlow's Estimator"),
    Closing(r"\bdid not meet early stopping\. best iteration is",
            "Did not meet early stopping. Best iteration is:", "LightGBM"),
    Closing(r"\[after training is done\]|\[exiting program (?:at|after) ",
            "[after training is done] datetime: 2024-01-01 10:00:00", "Megatron-LM"),
    Closing(r"\bthe training was finished at \d+ epochs?",
            "The training was finished at 40 epochs", "ESPnet"),
    Closing(r"\bsolved in \d+ (?:episodes|games|steps)\b",
            "Environment solved in 412 episodes! Average Score: 13.02", "Udacity's agents"),
    Closing(r"\bsaved pipeline to output directory", "✔ Saved pipeline to output directory",
            "spaCy"),
    Closing(r"^done solving$", "done solving", "py-faster-rcnn"),
    Closing(r"(?:^|[-|:\]] )done[.!]+$", "2024-01-01 10:00:00 - INFO - Done!", "own loops"),
    Closing(r"\bdone\b[:,.!]? final (?:[a-z]+ ){0,2}(?:loss|acc(?:uracy)?|reward|score"
            r"|(?:oof |cv )?r?(?:mse|mae|2))\b",
            "[2024-01-01 10:00:00,000][pretrain][INFO] - done: final loss 3.21, wrote out/seed0",
            "own loops"),
    Closing(r"\b(?:training|model) (?:has )?converged\b"
            r"|\boptimi[sz]ation (?:complete|finished|done)\b",
            "Optimization Finished!", "GCN, Theano's tutorials"),
    Closing(r"\btotal run time: [\d.]+ seconds",
            "Total run time: 123.45 seconds (120.1 seconds for the tuning loop).", "Ray Tune"),
    Closing(r"^\W*total execution time:? [\d.:]+", "Total Execution Time: 415.10 seconds",
            "own loops"),
    Closing(r"\bend time of running main:", "[INFO:swift] End time of running main: 2024-06-01 "
            "10:00:00.123456", "ms-swift"),
    Closing(r"\[train\] done\b|^\W*all done\b|^\W*done training\b", "[train] done. best_val=0.81",
            "own loops"),
    Closing(r"\bautogluon training complete", "AutoGluon training complete, total runtime = 12.34s",
            "AutoGluon"),
    Closing(r"\bfinal validation metrics\b", "Final validation metrics: {'val/acc': 0.5}", "verl"),
    Closing(r"\bexported .{1,200}\.onnx\b", "[INFO] Exported results/run/Walker.onnx", "ML-Agents"),
    Closing(r"\blearning (?:finished|complete)\b|\bfit(?:ting)? (?:finished|complete)\b",
            "Learning Finished!", "own loops"),
    Closing(r"\btrain(?:ing)? (?:loop |run |job |process |phase |engine |pipeline |session )"
            r"(?:is |has )?(?:done|completed?|finished|ended)\b", "Training loop finished",
            "own loops"),
    Closing(r"\btrain(?:ing)? script (?:is |has )?(?:done|completed?|finished|ended)\b",
            "Training script completed", "own loops"),
    Closing(r"\b(?:experiments?|job|all models) (?:completed|finished|trained) successfully\b",
            "Experiment finished successfully", "own loops"),
    Closing(r"\bmodel trained (?:and saved )?successfully\b|\btraining successful\b",
            "Model trained successfully", "own loops"),
    Closing(r"训练(?:已)?(?:完成|结束)", "训练完成! 最佳验证准确率: 92.1%",
            "own loops, in Chinese"),
    Closing(r"\bentrena?miento (?:completado|finalizado|terminado)",
            "Entrenamiento completado", "own loops, in Spanish"),
    Closing(r"\bentra[iî]nement termin[eé]", "Entraînement terminé", "own loops, in French"),
    Closing(r"\btraining abgeschlossen\b|\btraining beendet\b", "Training abgeschlossen",
            "own loops, in German"),
    Closing(r"학습(?:이)? ?(?:정상적으로 )?(?:완료|종료)", "학습이 정상적으로 완료되었습니다!",
            "own loops, in Korean"),
    Closing(r"学習(?:が)?(?:完了|終了)", "学習完了", "own loops, in Japanese"),
    Closing(r"обучение (?:завершено|закончено)", "Обучение завершено", "own loops, in Russian"),
    Closing(r"εκπαίδευση (?:έχει )?(?:ολοκληρώθηκε|ολοκληρωθεί|τελείωσε)",
            "Εκπαίδευση ολοκληρώθηκε!", "own loops, in Greek"),
    Closing(r"\btreinamento (?:foi )?(?:conclu[ií]do|finalizado|completo|terminado)",
            "Treinamento concluído", "own loops, in Portuguese"),
    Closing(r"\baddestramento (?:completato|terminato|concluso)", "Addestramento completato",
            "own loops, in Italian"),
    Closing(r"\bfinished epochs?, total (?:training )?time",
            "Finished epochs, total training time: 12 min", "own loops"),
    Closing(r"\bsaving final (?:model|checkpoint|weights)\b|\bfinal (?:model|checkpoint) saved\b",
            "Final model saved to out/final.pt", "own loops"),
    Closing(r"\bsaved (?:all |final |model )?artifacts (?:to|in|under)\b",
            "[train_xgboost] saved artifacts to out/artifacts", "own loops"),
    Closing(r"\btrain(?:ing)? took [\d.]+ ?(?:s|sec|min|h|hours)", "Training took 12.5 min",
            "own loops"),
    Closing(r"^\W*done, (?:the )?trained model (?:was )?saved (?:at|to|in)\b",
            "Done, trained model saved at models/epoch_2.model", "PyTorch's style transfer"),
    Closing(r"^\W*(?:time |total )?cost:? [\d.]+ ?min\b|\btraining code for .{0,80} ran for [\d.]+",
            "The training code for file mlp.py ran for 330.08m", "Theano's tutorials, own loops"),
    Closing(r"\bafter train \d+ iterations needs time\b",
            "After Train 1000 Iterations Needs Time: Time passes 22.1424 seconds", "Marvin"),
    Closing(r"\breached max(?:imum)?[ _](?:steps|epochs|iterations|iters)\b",
            "Reached max_steps, stopping", "own loops"),
    Closing(r"\b(?:exit(?:ing)?|leaving|quitting|ending) (?:the )?training(?: loop)?\b"
            r"|\btraining (?:was |has been )?(?:stopped|ended|interrupted) "
            r"(?:manually|by (?:the )?user)\b",
            "Manually exiting training", "own loops"),
    Closing(r"\bfinished all (?:the )?epochs\b|\ball epochs (?:done|completed|finished)\b",
            "All epochs completed", "own loops"),
    Closing(r"\bbenchmark finished\b|\bfinished run\b|\brun (?:finished|completed) successfully\b",
            "Run finished successfully", "own loops"),
    Closing(r"\brun [\w-]*\d[\w-]* (?:has )?(?:completed|finished)\b",
            "cnn Run 20250402_122347 completed - Validation Accuracy: 29.37%", "own loops"),
    Closing(r"\b(?:program|script|execution) (?:finished|completed|ended) "
            r"(?:normally|successfully)\b", "Program finished successfully", "own loops"),
    Closing(r"^l-bfgs (?:terminated|resulted) with ",
            "L-BFGS terminated with the maximum number of iterations", "CRFsuite"),
    Closing(r"^converged$|^stopped after \d+ iterations$", "converged", "R's nnet"),
    Closing(r"^total time: [\d.]+ (?:minutes|hours|seconds)\b", "Total time: 12 seconds",
            "Mallet"),
    Closing(r"^shrink model to first \d+ iterations", "Shrink model to first 1035 iterations.",
            "CatBoost"),
)  # fmt: skip
# what is done of a part of the training, or not yet
_OF_A_PART = (
    r"(?<!\bat )\b(?:epoch|step|iter(?:ation)?|fold|round|stage) ?#?\d"
    r"|\b(?:not (?:yet |been )?(?:done|complete|finish|end)|before|until|when|if|after each)"
)


# one of them stands in every such sentence, in lower case: to look for words takes less
_MARKS = (
    "complet", "finish", "done", "ended", " over", "end of", "end time", "stopped", "final",
    "training time", "training speed", "training code", "run time", "needs time", " took ", "cost",
    "early stopping", "exit", "leaving", "quitting", "ending", "interrupted", "saved pipeline",
    "artifacts", "converged", "exported ", "successful", "solved in",
    "reached max", "训练", "entren", "termin", "abgeschlossen", "beendet", "학습", "学習",
    "обучение", "execution time", "εκπαίδευση", "treinamento", "addestramento",
    "total time", "shrink model", "l-bfgs",
)  # fmt: skip


@lru_cache(maxsize=1)
def _forms() -> tuple[re.Pattern[str], re.Pattern[str]]:
    every = "|".join(f"(?:{one.form})" for one in CLOSING)
    return re.compile(every, re.IGNORECASE), re.compile(_OF_A_PART, re.IGNORECASE)


@by_form
def marked(line: str) -> bool:
    """Whether a line has one of the words without which no row of `CLOSING` is there."""
    lower = line.lower()
    return any(mark in lower for mark in _MARKS)


def closes(line: str) -> bool:
    """Whether a line says that the training has come to its end."""
    if len(line) > LONGEST or not marked(line):
        return False
    form, of_a_part = _forms()
    return form.search(line) is not None and not of_a_part.search(line)


def closing(lines: Sequence[str], behind: int, launches: int = 0) -> str:
    """Return the sentence that closes a log; `behind` is the first line behind its last step.

    Of a log that shows other `launches` before its last, each may have closed with it.
    """
    for line in lines[behind:]:
        if closes(line):
            mine = shape(line)
            before = sum(shape(other) == mine for other in lines[:behind])
            return line.strip() if before <= launches else ""
    return ""
