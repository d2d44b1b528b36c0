"""The words of names: which are spellings of one word, and what kind of word each is.

A name is understood as its set of words, whatever their order and the signs between them. Every
word is of one kind: the split, the statistic, the scope, a filler, or part of the quantity.
"""

from typing import Literal

Split = Literal["", "train", "val", "test"]
Statistic = Literal["", "mean", "min", "max", "std", "sum", "best", "median", "other"]


def spelled(table: dict[str, str]) -> dict[str, str]:
    """Turn a word and its other spellings around: the word by each of them."""
    return {other: word for word, others in table.items() for other in others.split()}


# one spelling of each word; plurals and short forms of logs
SYNONYMS = spelled({
    "train": "training trn trains trained learn trainings entrenamiento entrainement "
             "treinamento treino addestramento trening treningu treningowa treningowy egitim "
             "traning pelatihan uczenie uczaca",
    "val": "valid vali validation validate dev development eval evaluation evaluate evaluated vld "
           "heldout holdout oof va validacion validacao validierung validierungs validazione "
           "walidacja walidacji walidacyjna walidacyjny dogrulama validatie validasi validering",
    "test": "testing tst te teste tests prueba pruebas pruf pruef prufung pruefung",
    "loss": "losses los verlust perte pertes perdida perda perdita perdua strata straty kayip "
            "kaybi verlies forlust ztrata kerugian pierdere veszteseg",
    "cost": "costs kosten costo custo cout",
    "objective": "obj_fn",
    "criterion": "crit",
    "acc": "accuracy accuracies accu accy exactitud exactitude genauigkeit acuracia accuratezza "
           "dokladnosc dogruluk dogrulugu nauwkeurigheid noggrannhet presnost akurasi "
           "acuratete pontossag treffer trefferquote trefferrate accuray acuracy acurracy accurary "
           "accurcy justesse",
    "acc1": "top1 prec1 top_1",
    "acc5": "top5 prec5",
    "ppl": "perplexity perplexities perp ppls",
    "grad": "gradient gradients grads",
    "norm": "norms",
    "gnorm": "gradnorm gn",
    "lr": "lrate lrs lernrate",
    "ce": "xent crossentropy xentropy xe kreuzentropie",
    "entropy": "entropie entropia",
    "rate": "quote",  # German, behind what it is of: "Fehlerquote"
    "nll": "nlll",
    "loglik": "loglikelihood loglikelihoods ll loglike",
    "likelihood": "likelihoods",
    "bce": "bcewithlogits",
    "logloss": "mlogloss",
    "reward": "rew recompensa recompense ricompensa belohnung nagroda",
    "rewards": "rews recompensas recompenses ricompense belohnungen nagrody",
    "return": "ret ruckgabe rueckgabe retorno",
    "returns": "rets",
    "episode": "ep episodes episodic episodio episodi episodios epizod epizody episoden",
    "avg": "average averaged avr",
    "mean": "moyen moyenne media medio promedio mittlere mittlerer mittleren durchschnittliche",
    "median": "med",
    "smoothed": "ema moving running rolling exponential",
    "std": "stdev stddev sd deviation std_dev",
    "max": "maximum highest",
    "min": "minimum lowest",
    "sum": "summed",
    "iter": "iteration iterations iters itr it",
    "step": "steps",
    "epoch": "epochs epo",
    "batch": "batches minibatch mb",
    "sec": "s secs second seconds",
    "ms": "msec millisecond milliseconds",
    "tokens": "token tok toks",
    "total": "tot gesamt",
    "samples": "sample examples example images imgs img sequences sequence seqs",
    "frac": "fraction",
    "clip": "clipped clipping",
    "clipfrac": "clipfraction",
    "coef": "coeff coefficient",
    "disc": "discriminator discrim",
    "gen": "generator",
    "policy": "pi",
    "value": "vf",
    "approxkl": "approx_kl",
    "kl": "kld kldiv",
    "recon": "reconstruction recons",
    "util": "utilization utilisation",
    "mem": "memory",
    "success": "succ successes",
    "error": "err errors fehler",
    "class": "cls classification",
    "aux": "auxiliary",
    "reg": "regularization regularisation regularizer",
})  # fmt: skip

PHRASES: dict[tuple[str, ...], str] = {
    ("train", "rate"): "lr",  # learn_rate
    ("g", "norm"): "gnorm",
    ("grad", "global", "norm"): "gnorm",
    ("grad", "total", "norm"): "gnorm",
    ("grad", "l2", "norm"): "gnorm",
    ("env", "runners"): "env",  # RLlib
    ("sec", "per", "step"): "steptime",
    ("sec", "per", "iter"): "steptime",
    ("sec", "step"): "steptime",
    ("sec", "iter"): "steptime",
    ("time", "per", "step"): "steptime",
    ("time", "per", "iter"): "steptime",
    ("iter", "time"): "steptime",
    ("step", "time"): "steptime",
    ("step", "per", "sec"): "steprate",
    ("iter", "per", "sec"): "steprate",
    ("step", "sec"): "steprate",
    ("iter", "sec"): "steprate",
    ("learning", "rate"): "lr",
    ("taux", "d", "apprentissage"): "lr",
    ("tasa", "de", "aprendizaje"): "lr",
    ("taxa", "de", "aprendizado"): "lr",
    ("tasso", "di", "apprendimento"): "lr",
    ("cross", "entropy"): "ce",
    ("entropy", "croisee"): "ce",
    ("entropy", "cruzada"): "ce",
    ("entropy", "incrociata"): "ce",
    ("entropy", "krzyzowa"): "ce",
    ("sparse", "categorical", "ce"): "ce",
    ("sparse", "categorical", "crossentropy"): "ce",
    ("categorical", "ce"): "ce",
    ("softmax", "cross", "entropy"): "ce",
    ("cross", "entropy", "with", "softmax"): "ce",  # CNTK
    ("binary", "ce"): "bce",
    ("negative", "log", "likelihood"): "nll",
    ("neg", "log", "likelihood"): "nll",
    ("log", "likelihood"): "loglik",
    ("log", "lik"): "loglik",
    ("info", "nce"): "infonce",
    ("nt", "ce"): "ntxent",  # NT-Xent
    ("sup", "con"): "supcon",
    ("mat", "mat"): "loss",  # Vietnamese
    ("chinh", "xac"): "acc",
    ("log", "p", "x"): "loglik",
    ("log", "px"): "loglik",
    ("log", "pzx"): "loglik",  # of the labels z, in Eesen
    ("obj", "log", "pzx"): "loglik",
    ("objective", "loglik"): "loglik",
    ("mean", "squared", "error"): "mse",
    ("au", "roc"): "auroc",
    ("mean", "square", "error"): "mse",
    ("root", "mse"): "rmse",
    ("root", "mean", "squared", "error"): "rmse",
    ("mean", "absolute", "error"): "mae",
    ("log", "loss"): "logloss",
    ("binary", "logloss"): "logloss",
    ("multi", "logloss"): "logloss",
    ("held", "out"): "val",
    ("hold", "out"): "val",
    ("out", "of", "sample"): "val",
    ("out", "of", "fold"): "val",
    ("in", "sample"): "train",
    ("approx", "kl"): "approxkl",
    ("approximate", "kl"): "approxkl",
    ("approximate", "kullback", "leibler"): "approxkl",
    ("clip", "frac"): "clipfrac",
    ("grad", "norm"): "gnorm",
    ("norm", "grad"): "gnorm",
    ("acc", "1"): "acc1",
    ("prec", "1"): "acc1",
    ("top", "1", "acc"): "acc1",
    ("top", "1"): "acc1",
    ("acc", "top", "1"): "acc1",
    ("acc1", "acc"): "acc1",
    ("acc", "acc1"): "acc1",
    ("acc", "5"): "acc5",
    ("prec", "5"): "acc5",
    ("top", "5"): "acc5",
    ("binary", "acc"): "acc",
    ("categorical", "acc"): "acc",
    ("sparse", "categorical", "acc"): "acc",
    ("std", "dev"): "std",
    ("mini", "batch"): "batch",
    ("standard", "std"): "std",
    ("std", "val"): "std",  # std_dev
    ("success", "rate"): "successrate",
    ("is", "success"): "successrate",
    ("win", "rate"): "winrate",
    ("success", "rates"): "successrate",
    ("solve", "rate"): "successrate",
    ("solve", "rates"): "successrate",
    ("win", "rates"): "winrate",
    ("win", "ratio"): "winrate",
    ("winning", "rate"): "winrate",
    ("wins", "ratio"): "winrate",
    ("win", "percentage"): "winrate",
    ("success", "ratio"): "successrate",
    ("success", "frac"): "successrate",
    ("success", "percentage"): "successrate",
    ("explained", "variance"): "explainedvariance",
    ("explained", "var"): "explainedvariance",
    ("policy", "gradient"): "policy",
    ("policy", "grad"): "policy",
    ("value", "function"): "value",
}

# the word in a text in lower case: no blossom, no glossary, nothing lossy, lossless or colossal
LOSS = r"(?<!co)loss(?!om|ar[iy]|y|less)"
SPLITS: dict[str, Split] = {"train": "train", "tr": "train", "val": "val", "test": "test"}
STATISTICS: dict[str, Statistic] = {
    "mean": "mean", "avg": "mean", "smoothed": "mean", "min": "min", "max": "max", "std": "std",
    "sum": "sum",
    "best": "best", "median": "median", "var": "other", "variance": "other", "delta": "other",
    "diff": "other", "ratio": "other", "p50": "other", "p95": "other", "p99": "other",
    "last": "", "final": "other", "worst": "other", "gap": "other",
}  # fmt: skip
# over what a value was taken; a metric of an epoch stands beside that of a step
EPOCH, STEP = {"epoch"}, {"step", "iter", "batch"}
# what an answer is held against: rows that try one after the other are no course
THRESHOLDS = frozenset({"threshold", "thresholds", "thresh", "thr", "cutoff"})
# words that say where a value was written and nothing of what it is
FILLERS = {
    "metrics", "metric", "scalars", "scalar", "stats", "stat", "summary", "summaries", "charts",
    "chart", "info", "vs", "ddp", "params", "hparams", "hyperparameters", "opt",
    "performance", "perf", "progress", "monitor", "results",
    "result", "current", "cur", "curr", "now", "on", "in", "of", "the",
    "per", "for", "set", "dataset", "datasets", "stream", "phase", "curve", "curves",
    "each", "over", "all", "history", "hist", "list",
    "approximate", "approx",
    "global", "undiscounted", "optim", "optimizer", "optimization", "trainer", "main", "and", "by",
}  # fmt: skip
# words that may be written as one: "trainloss", "eprewmean"
GLUED = {
    "train",
    "val",
    "valid",
    "validation",
    "test",
    "eval",
    "loss",
    "acc",
    "accuracy",
    "avg",
    "mean",
    "total",
    "epoch",
    "iter",
    "step",
    "batch",
    "reward",
    "rew",
    "return",
    "ret",
    "ep",
    "len",
    "lr",
    "grad",
    "gradient",
    "norm",
    "nll",
    "mse",
    "mae",
    "rmse",
    "ppl",
    "tr",
    "std",
    "min",
    "max",
    "running",
    "score",
    "policy",
    "entropy",
    "disc",
    "gen",
    "error",
    "cost",
    "kl",
    "time",
    "learning",
    "rate",
    "ce",
    "bce",
    "recon",
    "cls",
    "reg",
    "trainings",  # German
    "validierungs",
    "verlust",
    "pruf",
    "genauigkeit",
    "treffer",
    "fehler",
    "quote",
    "validatie",  # Dutch
    "verlies",
}
