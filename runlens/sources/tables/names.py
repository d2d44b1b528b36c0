"""What the columns of a log are called: steps, epochs, times, splits, and what is measured."""

from collections.abc import Collection, Iterable

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.metrics import plain
from runlens.naming import classify, words
from runlens.naming.agents import of_population, won
from runlens.patterns import lazy_re

# Columns that are the step, best first, as `plain` writes them. Steps of the environment come
# before the counters of updates: it is them by which RL frameworks plot.
SURE_STEPS = (
    "global_step", "trainer_global_step", "train_global_step", "training_global_step",
    "global_steps", "current_steps", "step", "steps", "train_step", "training_step",
    "time_total_timesteps", "misc_total_timesteps", "total_timesteps", "timesteps_total",
    "num_env_steps_sampled", "total_env_steps", "env_steps", "num_timesteps", "timesteps",
    "timestep", "time_step", "time_steps", "num_updates", "iterations", "iteration", "iters",
    "iter", "training_iteration",
)  # fmt: skip
# of federated training and of evolution; within each, epochs or clients may count anew
ROUNDS = ("global_round", "server_round", "comm_round", "communication_round", "round",
    "rounds", "generation", "generations")  # fmt: skip
WEAK_STEPS = (
    "updates", "update", "upd", "total_steps", "total_frames", "frames", "frame", "total_episodes",
    "global_episode", "time_episodes", "episodes", "episode", "ep", "batch", "batch_idx",
    "minibatch", "t", "i", *ROUNDS,
)  # fmt: skip
EPISODES = {"episode", "episodes"}
UPDATES = {"updates", "update", "upd"}  # of a policy: what a share returned is counted in days
EPOCHS = ("epoch", "epochs", "train_epoch", "trainer_epoch", "epoch_num")
STEPS = (*SURE_STEPS, *WEAK_STEPS, *EPOCHS)
TIMES = {"timestamp", "time", "wall_time", "walltime", "created_at", "datetime", "date", "ts"}
# counters of the batches that are added up for one step
WITHIN_STEP = {"acc_step", "accum_step", "accumulation_step", "grad_acc_step", "micro_step"}
# parts of a name before a slash that say of a step that it is the run's
COUNTING = {"system", "progress", "trainer", "global", "meta", "info", "training", "run"}
# what other names of a step consist of: "n_iter", "opt_step", "batch_no", "stats/update"
COUNTED = {"step", "iter", "update", "updates", "batch"}
BESIDE_COUNTED = {
    "n", "no", "num", "number", "nr", "idx", "index", "count", "opt", "optim", "optimizer",
    "optimiser", "gradient", "grad", "global", "train", "current", "cur", "sgd", "learner", "agent",
    "env", "environment", "interaction",
}  # fmt: skip
# columns that number the rows of any table, one of samples too
ROW_NUMBERS = {"id", "idx", "index", "row", "no", "nr", "sample", "sample_id", "unnamed_0"}
SAMPLES = {"id", "sample", "sample_id", "sample_idx"}  # of these, the ones that no frame writes
HERE = {"", "train"}  # splits whose step is the run's
SPLIT_NAMES = {"split", "phase", "mode", "stage", "subset", "type", "set"}
# columns that name one of several sets on which was evaluated at each step
SET_NAMES = {"eval_split", "eval_set", "eval_dataset", "test_set", "test_split", "val_set"}
SPLITS = {
    "train": "", "training": "", "val": "val/", "valid": "val/", "validation": "val/",
    "eval": "eval/", "evaluation": "eval/", "dev": "dev/", "test": "test/",
    "tr": "", "trn": "", "va": "val/", "te": "test/", "tst": "test/",
}  # fmt: skip
PLANNED_STEPS = {"max_steps", "total_steps", "max_iters", "total_iters"}
PLANNED_EPOCHS = {
    "max_epochs", "total_epochs", "num_epochs", "epochs_requested", "requested_epochs",
    "epochs_planned", "planned_epochs",
}  # fmt: skip
PENALTIES = {"l1", "l2"}  # how much of each is added; a loss that is called so goes up and down
# how many samples each row was trained on, as in a learning curve over them: it is no time
SIZES = {
    "train_size", "train_sizes", "training_size", "train_set_size", "training_set_size",
    "n_train", "num_train",
}  # fmt: skip
# settings: where one differs from row to row and nothing counts, each row is a training
SETTINGS = {
    "hidden_size", "hidden_dim", "hidden_units", "embedding_dim", "embed_dim", "d_model",
    "n_layers", "num_layers", "n_layer", "layers", "n_heads", "num_heads", "batch_size",
    "chunk_len", "seq_len", "dropout", "weight_decay", "momentum", "seed", "trial", "trial_id",
    "n_estimators", "max_depth", "optimizer", "num_epochs", "n_epochs", *SIZES,
}  # fmt: skip
# columns that name the training of a row, where trainings stand in one table
TRAININGS = {
    "seed", "random_seed", "variant", "fold", "trial", "trial_id", "run", "run_id", "run_name",
    "run_idx", "run_number", "experiment", "exp", "exp_id", "exp_name", "experiment_name",
    "experiment_id", "model", "model_name", "method", "algo", "algorithm", "config", "config_id",
    "condition", "setting", "ablation", "repeat", "repetition", "optimizer", "dataset", "folds",
    "kfold", "k_fold", "cv_fold", "client", "client_id", "client_name", "cid",
    "network", "architecture", "arch", "backbone", "classifier", "estimator", "approach",
    # the same in other languages of Latin letters: models, methods, algorithms, classifiers
    "modelo", "modelos", "modele", "modeles", "modell", "modello", "modelli", "algoritmo",
    "algorithme", "algorithmus", "algoritma", "metodo", "methode", "clasificador",
    "classificador", "classificatore", "klassifikator",
}  # fmt: skip
OF_SEVERAL = {"seed", "fold", "trial"}  # the last words of others: "run_seed", "outer_fold"
# columns that name it where they hold words: a baseline of numbers is subtracted from a reward
METHODS = {"baseline", "strategy", "scheme"}
# columns that name classes: their scores are parts of one training
CLASSES = {"class", "class_name", "classes", "label", "category", "species", "tag", "entity"}
# of trainings, names that number parts of the data, or draws: rows that they number are no course
PARTS = {
    "fold", "folds", "kfold", "k_fold", "cv_fold", "seed", "random_seed", "experiment", "exp",
    "exp_id", "experiment_id",
}  # fmt: skip
# columns of a long table: what names the metric of a row, and what holds its number
LABELS = {
    "metric", "metric_name", "tag", "key", "name", "variable", "series", "type",
    "field", "stat", "measure", "measurement", "scalar", "what"}  # fmt: skip
VALUES = {"value", "metric_value"}
# words by which a file, or a key, says that its numbers judge
SCORES = {
    "metrics", "results", "result", "scores", "score", "leaderboard", "comparison", "benchmark",
    "benchmarks", "evaluation", "performance", "accuracy", "accuracies", "ranking",
}  # fmt: skip
# what is measured of a class or a kind of word as well, beside which no model is meant
OF_PARTS = {
    "precision", "recall", "f1", "f1_score", "fscore", "f_score", "fmeasure", "f_measure", "iou",
    "ap", "support", "dice", "p", "r", "f", "number",
}  # fmt: skip
# keys of objects that hold settings, whatever these are called
CONFIG = lazy_re(r"(?i)(?:.*_)?(?:config|cfg|args|arguments|options|settings|param\w*|hparams)")
_VARIED = lazy_re(r"(?i)(?:h(?:yper)?)?param(?:eter)?s?[_./](?=\w)|config/(?=\w)")
_TRUE = {"y_true", "true_label", "label", "ground_truth", "gt", "actual", "true", "reference"}
_PREDICTED = {
    "y_pred",
    "pred",
    "prediction",
    "predicted",
    "predicted_label",
    "pred_label",
    "hypothesis",
}
_SAMPLE = lazy_re(
    r"(?:image|img|student|question|sample|doc|document|ticket|customer|user|patient|passenger|product"
    r"|order|movie|item|review|tweet|post|comment|category|video|utterance)_?id"
)
# of these words alone a name says when, not what: "BestEpoch"
_WHEN = {"best", "last", "final", "first", "epoch", "step", "iter", "batch", "num", "at"}
TOTALS = {"total", "overall", "all"}
METRIC = lazy_re(
    r"(?:^|_)(?:loss|losses|nll|reward|rewards|rew|perplexity|ppl|lr|learning_rate|accuracy"
    r"|grad_norm|gnorm|kl|approx_kl|entropy|wer|cer|bleu|map50|map_0_5)\d*(?:_|$)"
)
WEAK_METRIC = lazy_re(
    r"(?:^|_)(?:scores?|map|return|returns|acc|f1|hmean|auc|mse|rmse|mae|m?iou|dice|psnr|ssim|fid|precision"
    r"|recall|silhouette|inertia|r2|mape|rmsle|ndcg|mrr|rouge[12l]?(?:sum)?|meteor|cider|success_rate|fitness|eer|hter|acer)\d*(?:_|$)"
)

_FILE = lazy_re(r"(?i)(?<=\w)[ _.-]+(?:logs?|output|data)$")  # behind what a file is called after

_ALIKE = lazy_re(r"(?<=\w)[-_ ]?(?:\(\d{1,4}\)|v?\d{1,4})$")


def says_results(stem: str) -> bool:
    """Whether a file is called as a text of results: ``results.md``; a log may be an example."""
    return not {"result", "results"}.isdisjoint(words(stem))


def says_scores(name: str) -> bool:
    """Whether a file, or a key, says of its numbers that they judge, whatever these are called."""
    return not SCORES.isdisjoint(words(name))


def called_after(stem: str) -> str:
    """Return what a file is called after: ``train_score`` of ``train_score_log``."""
    return without_number(_FILE.sub("", stem))


def without_number(name: str) -> str:
    """Return the name of a file without the number that tells several of them apart.

    ``rewards_2``, ``loss (1)``, ``reward-v2``; of a name that says what was measured only so.
    """
    alike = _ALIKE.sub("", name)
    return alike if classify(alike).quantity and not classify(name).quantity else name


def keeps_words(name: str) -> bool:
    """Whether the text in a column of this name says something about its row."""
    kept = SPLIT_NAMES | SET_NAMES | TIMES | TRAININGS | METHODS | LABELS
    return plain(name) in kept or is_varied(name)


def counter(name: str) -> tuple[int, int] | None:
    """Return a key that sorts the columns that can be the step, best first; None for others.

    A part of its own before a slash says whose step it is, as in ``system/step``. Last come names
    that only consist of words for steps, as in ``n_iter``.
    """
    if (word := plain(name)) in STEPS:
        return 0, STEPS.index(word)
    of, slash, last = name.rpartition("/")
    if slash and plain(last) in SURE_STEPS and plain(of) in COUNTING:
        return 1, SURE_STEPS.index(plain(last))
    parts = set(words(last))
    if not parts & COUNTED or not parts <= COUNTED | BESIDE_COUNTED:
        return None
    meaning = classify(name)  # "Loss/Train_Step" is a loss, whatever its last part counts
    return (2, len(parts)) if meaning.split in HERE and not meaning.quantity else None


def names_training(name: str) -> bool:
    """Whether a column of this name may name the training of a row: ``fold``, ``run_seed``."""
    word = plain(name)
    return word in TRAININGS or word.rpartition("_")[2] in OF_SEVERAL


def is_step(name: str) -> bool:
    """Whether a column of this name can be the step."""
    return counter(name) is not None


def measures_training(names: Collection[str]) -> bool:
    """Whether one of these names is of what only trainings measure: a loss, a rate, a reward."""
    return _by_data(names) or any(
        METRIC.search(plain(name))
        or _is_loss(name)
        or _is_of_episodes(name)
        or classify(name).quantity == "grad_norm"  # under whatever word: "gn"
        for name in names
    )


def of_losses(names: Collection[str], stem: str) -> dict[str, str]:
    """Return the names that are a loss because their file says so: ``generator`` in losses.csv."""
    if "loss" not in words(stem) or _by_data(names):
        return {}
    alone = [
        n
        for n in names
        if plain(n) not in {"", *VALUES, *PLANNED_STEPS, *PLANNED_EPOCHS}
        and not (is_step(n) or has_metric([n]) or set(words(n)) <= _WHEN)
    ]
    named = {name: f"{name}_loss" for name in alone if not classify(name).split}
    return {name: loss for name, loss in named.items() if classify(loss).sure}


def of_samples(names: Iterable[str]) -> bool:
    """Whether rows are samples: by their number, or what was predicted beside what was true.

    Rows with a step are none. Both may say of what they are, ``actual_price`` and ``pred_price``,
    where no training is measured beside them: a loss on true and on made samples is one.
    """
    known = [*names]
    said = {plain(name) for name in known}
    judged = bool(said & _TRUE) and bool(said & _PREDICTED)
    if _of(said, _TRUE) & _of(said, _PREDICTED):
        judged = judged or not measures_training(known)
    return (judged or any(map(_SAMPLE.fullmatch, said))) and not any(map(is_step, said))


def _of(names: Iterable[str], said: Collection[str]) -> set[frozenset[str]]:
    """Return of what names are that begin or end with one of some words: ``rate`` of a rate."""
    parts = (name.split("_") for name in names)
    return {
        frozenset(some) - {some[end]} for some in parts for end in (0, -1) if some[end] in said
    } - {frozenset()}


def is_log(names: Collection[str]) -> bool:
    """Whether columns of these names are a training log: a step and what training measures."""
    steps = {plain(name) for name in names if is_step(name)}
    paid = any(classify(n).quantity == "reward" for n in names)
    earned = (EPISODES | UPDATES if paid else EPISODES) & steps and (paid or any(map(won, names)))
    evolved = any(n in steps and of_population(names, n) for n in ROUNDS)
    if measures_training(names) or _told_by_letters(names) or earned or evolved:
        return bool(steps)
    weak = any(WEAK_METRIC.search(plain(name)) or classify(name).quantity for name in names)
    return weak and bool(steps - set(WEAK_STEPS))


def _told_by_letters(names: Collection[str]) -> bool:
    if min(map(len, names), default=0) > len("L_val"):
        return False
    from runlens.naming.letters import told  # of no use to most runs

    return told(names)


def letters_that_count(names: Collection[str]) -> dict[str, str]:
    """Return what letters beside others count: ``b`` the batches of an epoch."""
    if min(map(len, names), default=0) > 1:
        return {}
    from runlens.naming.letters import counters  # of no use to most runs

    return counters(names)


def has_metric(names: Collection[str]) -> bool:
    """Whether one of these names is of something that trainings measure."""
    return _by_data(names) or any(
        METRIC.search(plain(name)) or WEAK_METRIC.search(plain(name)) or classify(name).quantity
        for name in names
    )


def judges(name: str) -> bool:
    """Whether a name is that of a metric by which trainings are judged, and of no setting."""
    return not is_setting(name) and has_metric([name])


def is_varied(name: str) -> bool:
    """Whether a name is that of a setting that a search varies: ``param_C``, ``params/lr``."""
    return _VARIED.match(name) is not None


def is_setting(name: str) -> bool:
    """Whether a name is that of a setting, or of an object that holds some."""
    return (
        canonical_key(name.rpartition("/")[2]) in KNOWN_KEYS or CONFIG.fullmatch(name) is not None
    )


def is_kept(name: str, rows: int) -> bool:
    """Whether a column of this name is a plan or a setting where it says one number in all rows."""
    word = plain(name)
    return word in PLANNED_STEPS | PLANNED_EPOCHS or (rows > 1 and word in PENALTIES)


def has_twins(names: Iterable[str]) -> bool:
    """Whether a loss or a score stands there for training and for held-out data."""
    splits = {meaning.split for name in names if (meaning := classify(name)).quantity}
    return bool(splits & HERE) and not splits.isdisjoint({"val", "test"})


def _by_data(names: Iterable[str]) -> bool:
    """Whether columns are named by their data alone, or its total: ``epoch,train,test``."""
    splits = {classify(name).split for name in names if len(set(words(name)) - TOTALS) == 1}
    return "train" in splits and not splits.isdisjoint({"val", "test"})


def _is_of_episodes(name: str) -> bool:
    """Whether a name is that of what an agent got in an episode."""
    return "episode" in plain(name) and classify(name).quantity == "reward"


def _is_loss(name: str) -> bool:
    """Whether a name is that of a loss under whatever word, of a split that it names."""
    meaning = classify(name)
    return meaning.quantity == "loss" and (meaning.sure or bool(meaning.split))
