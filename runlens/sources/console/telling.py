"""Which names are those of numbers by which a training is judged."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from runlens.history import IntArray
from runlens.metrics import METRICS, naming
from runlens.naming import classify, words
from runlens.naming.languages import in_english
from runlens.naming.vocabulary import LOSS, SPLITS
from runlens.patterns import lazy_re
from runlens.sources.console.abroad import of_agent
from runlens.sources.console.text import Text

# parts of words, and words that mean something else within longer ones
_STEMS = (
    rf"{LOSS}|nll|ppl|perplex|bpb|bpc|acc?ur{{1,2}}a?n?[cr]?y|reward|entropy|bleu|rouge|psnr|ssim|score|elbo|xent"
    "|verlust|perte|perdi[dt]a|perda|kayip|kaybi|verlies|forlust|ztrata|kerugian|pierdere"
    "|veszteseg|mat mat|exactitud|genauigkeit|acuracia|accuratezza|dokladnosc|dogrulu[kg]"
    "|nauwkeurigheid|noggrannhet|presnost|akurasi|acuratete|pontossag|chinh xac"
    "|recompens|ricompens|belohnung|nagrod"
    "|fitness|mrr|ndcg|recall|precision|objective|objf|energy|cross.?ent|success.?rate|acc@|prec@"
    # without its data it may be that of each sample
    r"|(?:train|val|test|eval)[a-z]{0,7}[ _/.-](?:log[ _-]?)?likelihood"
)
_WORDS = (
    "acc|strat[ay]|fehler|treffer(?:quote|rate)|rew|return|returns|wer|cer|f1|hmean|m?ap|m?iou|r?mse|mae|epe|mpjpe|fid|err|errors?|auc|dice|r2|hits"
    "|cost|kl|hter|eer|acer|apcer|bpcer|frr|(?-i:FAR)|(?<=_)far|min_?dcf|metric|bce|ce|top-?[15]|(?:info)?nce|ctc|kld"
    "|success|successes|silhouette|inertia|mape|rmsle|mota|motp|idf1|hota"
)
_LOSSES = "".join(  # what else the table calls so
    f"|{re.escape(alias)}"
    for one in METRICS
    if one.name in {"train_loss", "eval_loss"}
    for alias in one.aliases
    if "loss" not in alias
)
_TELLING = lazy_re(rf"{_STEMS}|(?<![a-z])(?:{_WORDS}{_LOSSES})(?![a-z])", re.IGNORECASE)
_WORD = lazy_re(r"[^\W\d][\w/.-]*")
AGENT_ROWS, ABOVE = 5, 3  # rows, and lines above each, that say what an agent plays
LONGEST = 400  # characters of a line that names what stands below
LOSSES = {"train_loss", "eval_loss", "d_loss", "g_loss"}  # by whatever words: "L_total", "L_G"
# words of files that hold what a program printed or found
OUTPUT = {"out", "output", "outputs", "stdout", "log", "logs", "result", "results", "history"}
# settings of a loss, what was best so far, and words of sentences
_OTHER = lazy_re(
    r"loss[ _]?scale|(?:weight|coef|coeff|eps|bias|fn|type|every|interval|freq|size|threshold)s?\b"
    r"|best|(?<![a-z])exit|errno|code|interval|_every|per[ _]iter|\bthe\b|tokens? |^max |_s$",
    re.IGNORECASE,
)


def tells(name: str) -> bool:
    """Whether a name is that of something by which trainings are judged."""
    name = in_english(name)
    told = _TELLING.search(name) is not None or naming(name).metric in LOSSES
    return told and _OTHER.search(name) is None


def is_evaluation(names: Sequence[str]) -> bool:
    """Whether a line tells a loss and a score of held-out data, of which the first is named.

    >>> is_evaluation(("Test loss", "accuracy")), is_evaluation(("Test loss weight", "epochs"))
    (True, False)
    """
    held_out = len(names) > 1 and classify(names[0]).split in {"val", "test"}
    return held_out and all(map(tells, names))


def telling(names: Iterable[Sequence[str]]) -> int:
    """Count the numbers by which a training is judged; `names` are those of each row."""
    known: dict[Sequence[str], int] = {}
    found = 0
    for some in names:
        if some not in known:
            known[some] = sum(map(tells, some))
        found += known[some]
    return found


def named_in(words: str) -> str:
    """Return what words name that tells, two of them before each alone; "" where none does.

    >>> named_in("here are the train losses:"), named_in("% mean class accuracy (test set)")
    ('train losses', 'class accuracy')
    """
    said = _WORD.findall(words[-LONGEST:])
    return next(filter(tells, [*map(" ".join, pairwise(said)), *said]), "")


def says_output(stem: str, head: bytes) -> bool:
    """Whether a file is called as what a program printed or found: ``out.txt``, ``results.txt``.

    Or after its data, where it begins as a list: numbers alone there are the data themselves.
    """
    of_data = SPLITS.keys() >= set(words(stem)) and head.startswith(b"[")
    return of_data or not OUTPUT.isdisjoint(words(stem))


def titled(data: bytes) -> bool:
    """Whether the first of several lines names what trainings are judged by."""
    first, end, _ = data.lstrip()[:LONGEST].partition(b"\n")
    return end != b"" and named_in(first.decode(errors="replace")) != ""


def counts_episodes(text: Text, at: IntArray) -> bool:
    """Whether the first of the rows `at`, or what stands above them, count what an agent plays."""
    rows = at[:AGENT_ROWS].tolist()
    near = (line for row in rows for line in range(max(0, row - ABOVE), row + 1))
    return any(of_agent(text.line(line)) for line in near)
