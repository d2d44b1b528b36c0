"""What a setting is by the words of its name: ``--how_many_training_steps`` is ``max_steps``.

A row is our key and the sets of words that mean it; ``word?`` may be missing, ``a|b`` is one of
two. A word that no row has makes a name unknown: ``warmup_epochs`` is no number of epochs.
"""

import re
from functools import cache
from itertools import product

from runlens.naming.vocabulary import spelled
from runlens.patterns import lazy_re


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ROWS = {
    "learning_rate": "lr base? init? max? peak? train?, lr pi",
    "num_train_epochs": "epoch num? max? train? total? end?, epoch after",
    "max_steps": "step max train? optim?, step train num?, step total num? train? optim?, "
                 "step optim, step planned, iter max? num? total? train?, update max|total|num",
    "warmup_steps": "warmup step|iter|update num? lr? sched?, warmup num",
    "warmup_ratio": "warmup ratio|frac lr? sched?",
    "lr_scheduler_type": "lr sched type|name?, sched type|name?, lr policy|mode, "
                         "lr decay type|style",
    "max_grad_norm": "grad clip max? norm? thresh?, clip norm, grad max norm",
    "per_device_train_batch_size": "batch size train? per? device|gpu? micro|mini|local?, "
                                   "bs train?, batch, micro batch, mini batch, "
                                   "batch per device|gpu, samples per gpu, ims per batch",
    "per_device_eval_batch_size": "batch size eval per? device|gpu?, bs eval",
    "gradient_accumulation_steps": "grad accum step|every|iter?, accum step|iter?, update freq, "
                                   "iter size, grad acc step?, acc step",
    "weight_decay": "weight decay adam?, wd",
    "adam_beta1": "beta1 adam?, b1 adam?, beta 1 adam?",
    "adam_beta2": "beta2 adam?, b2 adam?, beta 2 adam?",
    "adam_epsilon": "eps adam, eps optim, epsilon adam",
    "optim": "optim name|type|class?",
    "vocab_size": "vocab size, vocab num",
    "num_labels": "class num, label num, class output",
    "seed": "seed random? manual? rng? global? train?",
    "logging_steps": "log every|freq|interval|period|step num?, log every num? step, "
                     "show every|freq|interval|period|step num?",
    "eval_steps": "eval every|freq|interval|period|step, eval every num? step, "
                  "eval check interval, eval iter interval",
    "save_steps": "save every|freq|interval|period|step ckpt?, save every num? step, "
                  "save iter freq, ckpt every|freq|interval|period|step",
    "dataloader_num_workers": "worker num? data? loader?, worker per gpu, nw",
    "max_length": "len max seq|token|ctx|model?, len seq, len ctx, ctx size, ctx num, block size, "
                  "max position",
    "max_completion_length": "len max? response, len max completion, token max new",
    "lora_r": "lora rank|r|dim, peft config? rank|r",
    "lora_alpha": "lora alpha, peft alpha",
    "lora_dropout": "lora dropout, peft dropout",
    "lora_target_modules": "lora target module?",
    "entropy_coef": "entropy coef|weight loss?",
    "target_kl": "kl target, kl max, kl desired",
    "epsilon": "clip coef|eps|param ppo?, ppo clip, clip actor ratio",
    "num_iterations": "ppo epoch num?, update epoch, sgd epoch num?, sgd iter num",
    "temperature": "temperature sampling|gen|rollout?",
    "label_smoothing_factor": "label smooth, smooth",
    "fp16": "fp16 use?",
    "bf16": "bf16 use?",
    "gradient_checkpointing": "grad ckpt use|enable?, activation ckpt",
    "num_processes": "gpu num per? node?",
    "early_stopping_patience": "early? stop? patience, es patience",
}  # fmt: skip
_SPELLING = spelled({
    "num": "n nb number nombre numero anzahl",
    "epoch": "epochs epoches epochen epoques epocas", "step": "steps", "train": "training",
    "iter": "iters iteration iterations", "update": "updates", "total": "tot",
    "lr": "learningrate lernrate", "init": "initial start", "sched": "scheduler schedule",
    "frac": "fraction prop proportion", "grad": "gradient gradients grads",
    "clip": "clipping", "thresh": "threshold", "optim": "optimizer opt optimization",
    "accum": "accumulation accumulate", "eval": "evaluation evaluate val valid validation "
    "validate test dev", "freq": "frequency", "show": "print display disp",
    "log": "logging", "ckpt": "checkpoint checkpoints checkpointing snapshot", "save": "saving",
    "worker": "workers", "loader": "dataloader", "len": "length", "ctx": "context",
    "seq": "sequence", "class": "classes", "label": "labels", "vocab": "vocabulary vocabs",
    "gpu": "gpus", "entropy": "ent", "coef": "coeff coefficient beta_coef", "smooth": "smoothing",
    "token": "tokens", "batch": "stapel", "eps": "epsilon", "module": "modules",
    "gen": "generation",
})  # fmt: skip
# parts of a path that say where a setting stands; of names without dots those of one word
_SECTIONS = _words_of("""
    trl training train trainer optimizer optim model lora args hparams params config top
    hyperparameters hyperparams hyper_parameters cfg solver optimization opt
""")
_PATHS = _SECTIONS | _words_of("""
    train_cfg optim_wrapper optimizer_config data dataset dataloader datamodule train_dataloader
    runner alg algo algorithm ds default actor_rollout_ref actor rollout logger learner adam
    init_args env_settings ckpt checkpoint peft_config lora_config peft model_config text_config
    loss model_args training_args train_config training_config method kwargs optim_conf
""")
# what a row counts or where it stands, not a setting
_NO_SETTING = frozenset(("epoch", "iteration", "iter", "update"))
_FILLERS = frozenset(("of", "the", "de", "du", "di"))
_HUMPS = lazy_re(r"(?<=[a-z0-9])(?=[A-Z])")
_COUNTED = lazy_re(r"n(class|classes|workers|gpus?|epochs?|iters?|layers?|steps?)")
_GLUED = {
    "batchsize": "batch size", "seqlen": "seq len", "maxlen": "max len", "gradclip": "grad clip",
    "earlystop": "early stop", "learningrate": "lr", "weightdecay": "weight decay",
    "minibatch": "mini batch", "cliprange": "clip eps", "noptepochs": "ppo epoch",
}  # fmt: skip
_PAIRS = {("warm", "up"): "warmup", ("learning", "rate"): "lr", ("how", "many"): "num",
    ("learn", "rate"): "lr", ("taux", "apprentissage"): "lr", ("tasa", "aprendizaje"): "lr",
    ("taxa", "aprendizado"): "lr", ("taxa", "aprendizagem"): "lr",
    ("tasso", "apprendimento"): "lr", ("taille", "lot"): "bs", ("taille", "batch"): "bs",
    ("tamano", "lote"): "bs", ("tamanho", "lote"): "bs", ("tamano", "batch"): "bs",
    ("dimensione", "batch"): "bs",
}  # fmt: skip


def _expanded(row: str) -> list[frozenset[str]]:
    """Return the sets of words of a row: ``"lr base?"`` -> {lr}, {lr, base}."""
    choices: list[list[str]] = []
    for item in row.split():
        some = item.removesuffix("?").split("|")
        choices.append(["", *some] if item.endswith("?") else some)
    return [frozenset(filter(None, words)) for words in product(*choices)]


@cache
def _known() -> dict[frozenset[str], str]:
    return {
        bag: key
        for key, rows in reversed(_ROWS.items())
        for row in rows.split(", ")
        for bag in _expanded(row)
    }


@cache
def setting_by_words(name: str) -> str:
    """Return our key for a setting by the words of its name, "" where they are not known.

    >>> setting_by_words("--how_many_training_steps"), setting_by_words("SOLVER.BASE_LR")
    ('max_steps', 'learning_rate')
    """
    if name.rpartition(".")[2].lower() in _NO_SETTING:
        return ""
    path = [part for part in re.split(r"[./]", name.strip().lstrip("-")) if part]
    for skipped in range(len(path)):
        if all(part.lower() in _PATHS for part in path[:skipped]) and (
            key := _of_words(_words("_".join(path[skipped:])))
        ):
            return key
    return ""


def _of_words(words: list[str]) -> str:
    """Look a set of words up, then without the sections that it begins with."""
    known = _known()
    for skipped in range(len(words)):
        rest = words[skipped:]
        if key := known.get(frozenset(rest), ""):
            return key
        if words[skipped] not in _SECTIONS:
            break
    return ""


def _words(part: str) -> list[str]:
    """Split a name: humps, ``_`` and ``-``, words written as one; in our spelling."""
    pieces = re.split(r"[^a-z0-9]+", _HUMPS.sub("_", part).lower())
    found: list[str] = []
    for piece in pieces:
        if not piece or piece in _FILLERS:
            continue
        counted = _COUNTED.fullmatch(piece)
        for word in f"num {counted[1]}".split() if counted else _GLUED.get(piece, piece).split():
            pair = _PAIRS.get((found[-1], word)) if found else None
            if pair:
                found[-1] = pair
            else:
                found.append(_SPELLING.get(word, word))
    return found
