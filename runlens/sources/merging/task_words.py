"""What tells the task of a training: words of settings and metrics, levels of a loss."""

from collections.abc import Collection, Mapping
from math import log

from runlens.naming import words
from runlens.run import Task

# A random model starts at ln(vocabulary), a fine-tuned one below 0.4 of it (1 to 4 of 10.4). The
# first logged loss is a mean over steps that already learned; far above is a sum, no mean.
FROM_SCRATCH = (0.5, 1.25)  # times ln(vocabulary)
# sizes of the vocabularies of GPT-2, BERT, RoBERTa, T5, Llama 2 and 3, Qwen 2.5, Gemma: a loss that
# is ln of one to four digits is that of a head that knows nothing
VOCABULARIES = (50_257, 30_522, 50_265, 32_128, 32_000, 128_256, 151_936, 256_000)
FOUR_DIGITS = 5e-4
FEWEST_SYMBOLS = 27  # fewer tokens than letters are no text
TWO_CLASSES = (0.665, 0.721)  # within 4 % of ln 2
# A new head over n classes starts at ln(n); the first logged loss may be a mean over steps that
# learned already, or lie above for a bad start. A language model's vocabulary is far larger.
NEAR_CLASSES = (0.5, 1.5)  # times ln(num_labels)
PRETRAINERS = {"nanogpt", "megatron", "nanochat", "modded-nanogpt"}
FINE_TUNERS = {"axolotl", "llama-factory", "ms-swift", "unsloth", "trl"}
# First loss that only an untrained language model has, where V is not known; under the Trainer six
# of seven were fine-tunings whose rate was far too high
SCRATCH_LOSS = 7.0
# no language model's: ln(256,000) is 12.5, and a bad start adds a few nats
NO_LANGUAGE_LOSS = 16.0
# near ln of the vocabularies above, of 30,000 to 256,000 words; a bad start adds a tenth
USUAL_SCRATCH = (0.95 * log(30_522), 1.1 * log(256_000))
# nats a word that a model which knows nothing yet never has on held-out text
LEAST_HELD_OUT = 1.0
# operations a sample: 6 times the parameters times the tokens (transformers, floating_point_ops).
# BERT and GPT-2 of 110 million with 512 tokens take 3.5e11
SMALL = 5e11
FEW_CLASSES = log(5)  # such a model of language that was trained before begins above it: at 1.7
LANGUAGE = {"ppl", "bpb", "bpc", "tokens", "ntokens", "mfu", "vocab", "tokenizer", "context"}
CLASSES_LOSS = log(1_000)
OF_SCORES = {
    "acc", "acc1", "acc5", "mae", "rmse", "f1", "auc", "classification", "error", "err",
}  # fmt: skip
LEAST_SYMBOLS = 0.5 * log(FEWEST_SYMBOLS)  # a mean of the first epoch of a model of letters
OF_IMAGES = {"image_size", "img_size", "imgsz", "crop_size"}  # settings of what is no text
SAVED = "config.json"  # what a model is; trackers name what it was made of: BertForMaskedLM

BY_METHOD: Mapping[str, Task] = {
    "grpo": "grpo", "rloo": "grpo", "ebft": "grpo", "gspo": "grpo", "dapo": "grpo",
    "ppo": "ppo", "dpo": "dpo", "kto": "dpo", "orpo": "dpo", "ipo": "dpo",
    "simpo": "dpo", "cpo": "dpo", "rm": "reward-model", "reward": "reward-model",
    "rewardtrainer": "reward-model", "sft": "sft", "pt": "pretrain", "pretrain": "pretrain",
    "grpotrainer": "grpo", "dpotrainer": "dpo", "ppotrainer": "ppo", "sfttrainer": "sft",
    "ktotrainer": "dpo", "orpotrainer": "dpo", "cpotrainer": "dpo", "rlootrainer": "grpo",
    "ppoconfig": "ppo",
}  # fmt: skip
METHOD_KEYS = (
    "rl", "stage", "trainer", "trainer_class", "algorithm", "method", "rlhf_type", "method.name",
)  # fmt: skip
PROGRAM_KEYS = ("command_line", "wandb_project", "run_name", "experiment_name", "output_dir")
BY_WORD: tuple[tuple[Task, tuple[str, ...]], ...] = (
    ("grpo", ("grpo",)), ("dpo", ("dpo",)), ("dpo", ("orpo",)), ("dpo", ("kto",)),
    ("ppo", ("ppo",)), ("reward-model", ("reward", "model")), ("sft", ("sft",)),
    ("pretrain", ("pretrain",)), ("pretrain", ("pretraining",)), ("asr", ("asr",)),
    ("asr", ("speech", "recognition")), ("asr", ("speech", "to", "text")),
    ("asr", ("speech", "model")),
    ("contrastive", ("simclr",)), ("contrastive", ("contrastive",)), ("contrastive", ("supcon",)),
)  # fmt: skip
OBJECTIVE_KEYS = ("loss", "loss_fn", "loss_function", "criterion", "objective", "loss_type")
OF_NUMBERS = {"mse", "rmse", "mae", "l1", "l2", "mse loss", "huber loss"}
CONTRASTIVE = ("contrastive", "triplet", "infonce", "ntxent", "supcon")  # in names of such losses
OF_PAIRS = {"infonce", "ntxent", "supcon", "simclr"}  # words of a logged name of such a loss
OF_LONE_PAIRS = {"contrastive", "triplet"}  # and of one that is the only loss, no part of a sum
LAYERS = ("n_layer", "num_layers", "num_hidden_layers")
HEADS = ("n_head", "num_heads", "num_attention_heads")
WIDTHS = ("d_model", "n_embd", "hidden_size", "embed_dim")
TRAINED = ("model_name", "pretrained_model_name_or_path")
# in the name of a model that is already trained: families of language models that only generate
FAMILIES = (
    "gpt", "llama", "qwen", "mistral", "mixtral", "gemma", "phi", "pythia", "falcon", "bloom",
    "opt", "glm", "chatglm", "deepseek", "baichuan", "internlm", "smollm", "tinyllama",
)  # fmt: skip
ARGUMENTS = ("learning_rate", "weight_decay", "adam_beta1", "logging_steps", "seed")
MODEL = ("model_type", "architectures", "vocab_size", *TRAINED)
OWN = "the settings describe a transformer of one's own"
RL_FRAMEWORKS = {"ml-agents", "stable-baselines3", "rl_games"}

# any of these metrics -> task, in this order
BY_METRIC: tuple[tuple[tuple[str, ...], Task], ...] = (
    (("dpo_chosen", "log_odds_ratio", "logp_rejected"), "dpo"),
    (("ebft_alignment", "ebft_diversity", "ebft_cfm", "ebft_ce"), "grpo"),
    (("frac_zero_std", "len_clipped", "completions/min_length", "len_term"), "grpo"),
    (("kl_seq", "entropy_seq"), "ppo"),
    (("eval_wer", "eval_cer", "wer", "cer"), "asr"),
    (("d_loss", "g_loss", "fid"), "gan-diffusion"),
    (("Positive Score", "Negative Score"), "reward-model"),
    (("contrastive_loss", "logit_scale"), "contrastive"),
    (("loss_q0", "mse_q0"), "gan-diffusion"),  # by quarters of the noise, as OpenAI's code does
)
# of these a classifier may log one as well: a part of its loss, a generator of rationales
PARTS = {"contrastive_loss", "g_loss"}
RATED = {"dpo_margin", "min_reward"}  # what a reward model gives to pairs, as TRL logs it
OF_CLASSES = {"train_accuracy", "eval_accuracy"}
RL_METRICS = ("rollout/", "Environment/", "shaped_rewards", "episode", "ep_len", "Episode")
GENERATIVE = (
    "discrim", "generator", "codebook", "vq", "diffus", "denoising", "kimg", "recon",
)  # fmt: skip
GENERATED = ("rouge", "bleu", "sacrebleu", "chrf", "meteor", "sari", "bertscore")
CLASSIFIERS = ("SequenceClassification", "ImageClassification", "TokenClassification")
ADAPTED = {"SEQ_CLS": "SequenceClassification", "TOKEN_CLS": "TokenClassification"}
SPEAKING = ("CausalLM", "ConditionalGeneration", "MaskedLM", "LMHead", "EncoderDecoder")
CONTINUING = ("CausalLM", "LMHead")  # of them: those that continue a text
SPEECH = ("CTC", "Whisper", "Speech")
READING = ("vision", "trocr", "donut", "pix2struct", "nougat")  # text in images
OF_TEXTS = {"format", "completion", "completions", "answer"}  # words of rewards of texts
OF_TASKS = {"ratio", "rate", "time", "task", "tasks"}  # beside it a completion is none of a text
OF_ANSWERS = OF_TEXTS | {"response", "responses", "tokens", "prompt", "ref", "rm", "vllm", "kl"}
# words of a reward that an agent gets, where "return" may be one of money
OF_AGENTS = {"reward", "rewards", "episode", "episodes", "rollout", "agent", "policy", "env"}
ERRORS = {"mse", "mae", "rmse", "r2", "r_squared", "r²", "mape", "smape", "rmsle"}
# an error that only targets which are numbers have; squares are taken of images and noise too
ABSOLUTE = {"mae", "mape", "smape"}
CORRELATIONS = {
    "corr",
    "pearson",
    "spearman",
    "pearsonr",
    "spearmanr",
    "pcc",
    "srcc",
    "plcc",
    "ccc",
}
# words before an error that say on which data it was measured
MEASURED_ON = {"eval", "train", "val", "valid", "test", "oof", "cv", "public", "private", "mean"}
SCORES = {"f1", "recall", "precision", "auc", "matthews", "mcc", "acc1", "acc5"}
OF_RANKINGS = {"map", "ndcg", "mrr"}  # beside them a reconstruction is a part of another aim
# of parts of an image, or edit distances of texts read in it: none of our tasks
OF_PARTS = {"iou", "miou", "dice", "map", "map50", "pq", "ed", "cer"}
# settings of a model that writes sequences: its accuracy is one of symbols
WRITING = {"tgt_vocab_size", "src_vocab_size", "beam_size", "teacher_forcing_ratio"}


def answers(logged: Collection[str], beside: str = "") -> bool:
    """Whether something is logged that only models of texts have, beside a word."""
    return any((OF_ANSWERS - {beside}) & of_texts(name) for name in logged)


def of_texts(name: str) -> set[str]:
    """Return the words of a name; of how many tasks were completed, none is of a text."""
    said = set(words(name))
    return said - {"completion"} if said & OF_TASKS else said


def of_an_agent(names: Collection[str], logged: Collection[str]) -> bool:
    """Whether a reward stands beside the loss of a critic, and nothing that models of texts log."""
    critic = {"value_loss", "critic_loss"} & set(names)
    return bool("reward" in names and critic) and not answers(logged)
