"""Scores of several models, one line each, in a log that shows no course of any training.

``lgb_l1   OOF MAE=37.4563  n_est=2542``, ``[Seoul] R2: 0.949 | MAE: 0.44 MWh``: a model, a
configuration or a fold, and what it was judged by. Each is a training of a single point.
"""

from collections import Counter
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row
from runlens.sources.reading import as_number

FEWEST = 2  # results
MOST = 200
LONGEST = 400  # characters of a line
DISTINCT = 0.5  # share of the results that have a name of their own: launches say some again
_NUMBER = r"\$?\s?([-+]?(?:\d[\d,]*\.?\d*(?:e[-+]?\d{1,3})?|nan))(?![\w.])"
_ERRORS = r"s?MAPE|RMSLE|N?RMSE|MASE|MAE|MSE|WAPE|R2|R²|R\^2|R-squared|pearson|spearman"
_SHARES = (
    r"accuracy|acc|(?:roc[-_ ]?)?auc|macro[-_ ]f1|f1(?:[-_ ]score)?|log ?loss|precision|recall"
)
_SCORE = lazy_re(
    r"(?<![\w.-])((?:(?:OOF|CV|train(?:ing)?|val(?:idation)?|test|public|private|mean|avg)[-_ ])?"
    rf"(?:{_ERRORS}|{_SHARES}))(?:\s{{0,3}}[:=]\s{{0,3}}|\s?\((?=[-+.\de]{{1,20}}\))){_NUMBER}",
    2,  # re.IGNORECASE
)
_OF_ERROR = lazy_re(rf"(?i)(?:.*[-_ ])?(?:{_ERRORS})")
_SUMMARY = lazy_re(r"(?i)\b(?:final|best|overall|mean|average|avg|ensemble|total|baseline)\b")
_PART = lazy_re(  # of one training: its classes, its steps
    r"(?i)\b(?:class|label|category|horizon|epoch|step|iter(?:ation)?|batch|round|layer|sample"
    r"|episode|query|question|topic|task|dataset|split)s?\b"
)
MODEL = lazy_re(
    r"(?i)(?<![a-z])(?:rf|dt|lr|nb|gbm?|gbdt|mlp|xgb|lgbm|gp|sgd|lda|qda|gcn|gat|vit|cart)(?![a-z])"
    r"|fold|trial|seed|model|config|exp(?:eriment)?\b|\brun\b|svm|svc|knn|neighbo|forest|xgb|lgb|lightgbm"
    r"|boost|tree|bayes|logistic|regress|ridge|lasso|mlp|net\b|lstm|gru|cnn|rnn|bert|resnet|vgg"
)
_FOLD = lazy_re(r"(?i)fold|trial|seed|\brun\b")
# what was chosen for a training: "classes (a, b), features (c),"
_CHOSEN = lazy_re(r"(?:[A-Za-z]\w{1,30} \([^()]{1,100}\)[,;]? ?){2,9}")
# what a logger sets before a message: its time, its level, its name
_LOGGED = lazy_re(
    r"\s*(?:\[\s*[\d.:]+s?\s*\]|\[?\d{4}-\d\d-\d\d[ T][\d:.,]+\]?|\d\d:\d\d:\d\d|[-|]"
    r"|\[?(?:INFO|DEBUG|WARNING)\]?)+"
)


_GIVEN = lazy_re(r"[=:]\s*[-+]?\d")


class _Result(NamedTuple):
    at: int
    label: str
    names: tuple[str, ...]
    values: tuple[float, ...]


def scores(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each model of which a log says scores in a line; none of other logs.

    Lines that name the same score first are of one kind; of several kinds the one of most lines
    is taken, and of those the later one. What sums up others is none of them.
    """
    every = [one for at, line in others if len(line) <= LONGEST and (one := _result(at, line))]
    kinds: dict[str, list[_Result]] = {}
    for one in every:
        kinds.setdefault(one.names[0], []).append(one)
    for first, some in kinds.items():
        apart = [one for one in some if not _SUMMARY.search(one.label)]
        kinds[first] = apart if len(apart) >= FEWEST else some
    kept = max(reversed(kinds.values()), key=len, default=[])
    labels = Counter(one.label for one in kept)
    whole = all(value.is_integer() for one in kept for value in one.values)
    if not FEWEST <= len(kept) <= MOST or len(labels) < max(FEWEST, DISTINCT * len(kept)) or whole:
        return []
    return [Row(one.at, Counted(step=n), one.names, one.values) for n, one in enumerate(kept, 1)]


def of_models(others: Sequence[tuple[int, str]]) -> bool:
    """Whether each line with scores begins with the name of a model of its own, and no number."""
    found = [one for at, line in others if len(line) <= LONGEST and (one := _result(at, line))]
    labels = {one.label for one in found}
    if any(_GIVEN.search(label) for label in labels):
        return False  # "lr=0.1" is no logistic regression
    return len(labels) == len(found) and all(
        MODEL.search(label) and not _SUMMARY.search(label) and not _FOLD.search(label)
        for label in labels
    )


def _result(at: int, line: str) -> _Result | None:
    """Return what a line says of a model; None where it says anything else."""
    begin = logged.end() if (logged := _LOGGED.match(line)) else 0
    found = list(_SCORE.finditer(line, begin))
    label = " ".join(line[begin : found[0].start()].split()) if found else ""
    if not label.strip(" -=*#:|") or _PART.search(label):
        return None
    known = any(_OF_ERROR.fullmatch(one[1]) for one in found) or MODEL.search(label)
    known = known or _CHOSEN.fullmatch(label)
    numbers = {one[1]: as_number(one[2].replace(",", "")) for one in found}
    named = {name: value for name, value in numbers.items() if value is not None}
    return _Result(at, label, tuple(named), tuple(named.values())) if known and named else None
