"""What a set of words measures, once its split, statistic and fillers are taken off.

A row is a quantity and the sets of words under which it is met. Nothing is guessed from a part of
a name: a word that no row knows makes the name unknown.
"""

Bag = frozenset[str]


def _bags(table: dict[str, str]) -> dict[Bag, str]:
    return {
        frozenset(row.split()): name for name, rows in table.items() for row in rows.split(" | ")
    }


def _ordered(rows: str) -> tuple[Bag, ...]:
    return tuple(frozenset(row.split()) for row in rows.split(" | "))


# whatever else a run logs, these are what they say
QUANTITIES: dict[Bag, str] = _bags({
    "loss": "loss | total loss | overall loss | lm loss | full loss | combined loss",
    "accuracy": "acc | acc1 | acc total | acc overall | global correct",
    "token_accuracy": "tokens acc",
    "ppl": "ppl",
    "reward": "reward | return | avgr | total rewards | episode rewards | cumulative rewards | "
              "episode reward | episode return | episode total reward | "
              "env score | "
              "total reward | total return | rollout reward | rollout return | env reward | "
              "rollout episode reward | rollout episode return | environment reward | "
              "episode cumulative reward | environment cumulative reward | cumulative reward | "
              "sim return | sim reward | "
              "total episode return | reward score | env return | "
              "env episode return | env episode reward | episode r | "
              "rm score | rm reward | reward model score | reward model reward",
    "learning_rate": "lr | lr group0 | lr group 0 | lr 0 | lr0 | lr pg0 | lr pg 0 | base lr | "
                     "policy lr | actor lr | lr param group0 | lr param group 0 | lr adam | "
                     "lr adamw | lr sgd | lr rmsprop | "
                     "learning lr | learning policy lr",
    "grad_norm": "gnorm | total gnorm | gnorm total | gnorm 2 | gnorm l2 | l2 gnorm | "
                 "gnorm 2.0 total | gnorm 2 0 total | gnorm preclip | gnorm pre clip | "
                 "gnorm before clip | gnorm unclipped | gnorm raw | model gnorm | "
                 "actor gnorm | overall gnorm | grad l2 | global grad l2",
    "entropy": "entropy | policy entropy | policy ent | policy h | "
               "rollout entropy | agent entropy | action entropy | "
               "policy action entropy | rollout policy entropy",
    "explained_variance": "explainedvariance | loss explainedvariance",
    "value_loss": "value loss | loss v | cri loss | critic value loss",
    "policy_loss": "policy loss | actor loss | act loss | actor policy loss | pg loss | "
                   "policy surrogate loss | surrogate loss",
    "clip_ratio": "clipfrac | ppo clipfrac | pg clipfrac | policy clipfrac | loss clipfrac",
    "kl_step": "approxkl | ppo kl | policy approxkl | loss approxkl",
    "d_loss": "disc loss | dis loss | loss d | err d | errd | dloss | netd loss | loss netd | "
              "total disc loss | total loss d | error d | l d",
    "g_loss": "gen loss | loss g | err g | errg | gloss | netg loss | loss netg | "
              "total gen loss | total loss g | error g | l g",
    "throughput_tokens": "tokens sec | throughput tokens sec | effective tokens sec",
    "throughput_samples": "samples sec | throughput samples sec",
    "throughput_steps": "steprate",
    "step_time": "steptime | steptime sec",
    "tokens": "elapsed tokens | consumed tokens | global tokens",
    "gpu_mem": "gpu mem gb | gpu mem gib",
    "dpo_chosen": "chosen rewards",
    "dpo_rejected": "rejected rewards",
    "dpo_acc": "reward acc | pref acc | preference acc | preferences acc | "
               "pair acc | pairs acc | pairwise acc",
    "gpu_util": "gpu util",
    "mfu": "mfu",
})  # fmt: skip

# what is the loss of a run that logs none of its own: in the order in which they are believed.
# A word of the objective comes before the loss by its kind, that before a measure of distance
OBJECTIVES = _ordered(
    "cost | objective | criterion | total cost | cost j | objective loss | criterion loss | "
    "energy | local loss | client loss | "
    "nll | nll loss | ce | ce loss | bce | bce loss | logloss | ctc | ctc loss | "
    "elbo | elbo loss | neg elbo | loglik | loglik total | mlm loss | "
    "softmax loss | contrastive loss | "
    "infonce | infonce loss | nce | nce loss | ntxent | ntxent loss | supcon | supcon loss | "
    "simclr loss | moco loss | byol loss | barlow loss | vicreg loss | dino loss | ssl loss | "
    "siamese loss | triplet loss | "
    "bpr | bpr loss | bt loss | bradley terry loss | ranking loss | pairwise loss | margin loss | "
    "arcface loss | hinge loss | "
    "diffusion loss | denoising loss | l simple | l hybrid | nelbo | vlb | "
    "distill loss | distillation loss | kd loss | "
    "eps mse | noise mse | eps pred mse | noise pred mse | "
    "mse | mse loss | recon | recon loss | recon error | rmse | rmse loss | huber | huber loss | "
    "smooth l1 loss | l1 loss | l pix | pix loss | mae | mae loss | l2 | l1 | dice loss | "
    "nats | error | "
    "msve | rmsve | mspbe | rmspbe | value mse"  # of values, held against the true ones
)
# what is counted of a classifier that logs no loss: answers that were wrong, or their share
WRONG_ANSWERS = _ordered(
    "error | error num | error n | error number | error count | error rate | error percent | "
    "class error | total error | misclassified | misclassification | misclassifications | "
    "misclassification rate | misclassified samples | wrong | wrong answers | wrong predictions | "
    "incorrect | mistakes"
)
# what an agent is judged by where no reward is logged
SCORES_OF_AGENTS = _ordered(
    "rewards | returns | episode rewards | episode returns | score | episode score | total score | "
    "successrate | rollout successrate | winrate"
)
# and in the log of an agent alone
WON_BY_AGENTS = _ordered(
    "score | scores | total score | utility | total utility | profit | total profit | net profit | "
    "net worth | success | overall success | episode success | winrate | wins | total wins | win | "
    "revenue | total revenue | net revenue | earnings | total earnings | income | total income | "
    "nav | agent nav | portfolio value | portfolio"
)
# words of a part of a loss: a loss of such a word is none of an evaluation set of that name
(PARTS,) = _ordered(
    "policy value vf pg actor critic kl nll ce bce cross entropy ctc attention att aux auxiliary "
    "moe router load balance balancing z mlm nsp dpo sft reward ranking margin box bbox giou cls "
    "class classification obj dfl seg mask rpn roi regression reg regularization focal dice "
    "triplet contrastive itc itm mse mae rmse l1 l2 huber recon reconstruction rec commit "
    "commitment vq codebook perceptual adv adversarial g d gen disc generator discriminator "
    "distill distillation kd mel duration pitch energy postnet gate diffusion"
)
