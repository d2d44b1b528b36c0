"""What a short text says of a result where nothing else in it is a number by name.

Sentences, ``The model reached an accuracy of 93.2 % on the test set``; names without a mark behind
them, ``ACC 0.8731``; the report of scikit-learn; names of models, each with its score. All of it is
looked for last, in texts that are short.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.sources.console.class_reports import reports
from runlens.sources.console.counters import Counted
from runlens.sources.console.named_scores import MODEL
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import named_in, tells
from runlens.sources.reading import as_number

LONGEST = 200  # lines of a text, and characters of one that names no number by a mark
WIDE = 400  # characters of a sentence
FEWEST = 2  # models, each with its score
MOSTLY = 0.5  # share of the names that are known as those of models, where no title says a score
_SHARES = (
    r"accurac(?:y|ies)|acc|(?:roc[ -]?)?auc|f1(?:[ -]?score)?|f-score|precision|recall|win ?rate"
    r"|success rate|error rate|dice|m?iou|m?ap"
)
# what little else is called so, whatever stands beside it
MEASURES = (
    r"rand(?: index| score)?|ari|a?nmi|mcc|kappa|sensitivity|specificity|v-measure|homogeneity"
    r"|completeness|gini|brier(?: score)?|hd95|mota|motp|idf1|hota"
)
_OTHERS = (
    r"loss|perplexity|ppl|rmse|mse|mae|mape|r2|wer|cer|bleu(?:-[1-4])?|rouge-?[12l]|meteor|cider"
    r"|exactitud|genauigkeit|acur[aá]cia|akurasi|doğruluk|точность|verlust|p[eé]rdida|perda|kerugian"
    rf"|{MEASURES}|psnr|ssim|fid|ndcg|mrr|silhouette|inertia|reward|score|nll"
)
_DATA = r"train(?:ing)?|test(?:ing)?|val(?:id(?:ation)?)?|eval(?:uation)?|dev|held[- ]out"
_NUMBER = r"(?P<number>[-+]?(?:\d+[.,]\d+|\d+)(?:e[-+]?\d{1,3})?)(?P<percent> ?%| percent\b)?"
_NAME = rf"(?:(?P<data>{_DATA})(?: set)? )?(?:average |mean )?(?P<name>{_SHARES}|{_OTHERS})"
_ENDS = (  # and no amount of anything
    r"(?![\w%]|[.,]\d|/\d|\s+[-+]?\d+\.\d"
    r"| ?(?:million|billion|thousand|dollars|euros?|usd|[km]?g|k?m|points?)\b)"
)
_VERBS = (
    "is|was|of|to|at|reached|reaches|hits|scored|es|fue|é|foi|ist|betr[aä]gt|war|est|adalah"
    "|составила"
)
_SAID = lazy_re(
    rf"(?i)(?<![\w-]){_NAME}(?P<of>(?:(?: \(?[^\W_][\w'-]{{0,15}}\)?){{0,9}}?)"
    rf"(?: (?:{_VERBS})|\s?[:=]):?) {{0,2}}(?:about |around |~)?"
    rf"{_NUMBER}{_ENDS}(?P<on> (?:on|for|over) (?:the )?(?:{_DATA}))?"
)
_AHEAD = lazy_re(
    rf"(?i)(?<![\w.,])(?P<number>[-+]?\d+(?:[.,]\d+)?)(?P<percent> ?%)? {_NAME}(?!\w| ?[:=]| of\b)"
    rf"(?P<of>)(?P<on> (?:on|for|over) (?:the )?(?:{_DATA}))?"
)
_ALONE = lazy_re(
    rf"(?i)[\s*%>-]{{0,6}}(?:(?P<data>{_DATA})[ _-])?"
    rf"(?P<name>(?:{_SHARES}|{_OTHERS}|top-?[15]|prec|hits?|hr|recall|ndcg|p|r)"
    rf"(?:@\d{{1,3}})?(?:[ _-]score)?)\s*[:=]?\s+{_NUMBER}{_ENDS}"
)
_RIGHT = lazy_re(
    r"(?i)(?:correct(?:ly)?(?: classified| predicted| predictions)?|won|wins|success rate|win rate"
    r"|accuracy)\D{0,12}"
    r"(?P<right>\d{1,9})\s*(?:/|of|out of)\s*(?P<all>[1-9]\d{0,8})\b"
)
_WON = lazy_re(r"(?i)won|wins|win rate|success rate")
_WON_SHARE = lazy_re(r"(?i)\b(?:won|wins)\b\D{0,12}(\d{1,3}(?:\.\d+)?) ?%")
_CHINESE = lazy_re(
    r"(?P<data>测试|验证|训练)?集?(?:上的)?(?P<name>准确率|正确率|精度|损失)(?:为|是|达到|：|:)\s*"
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>[%％])?"
)
_DATA_OF = {"测试": "test", "验证": "val", "训练": "train"}
# of what is wanted, asked or told of others, and no result
_WANTED = lazy_re(
    r"(?i)\b(?:if|when|until|unless|should|could|would|must|try|target|goal|expect\w*|require\w*"
    r"|at least|at most|above|below|more than|less than|greater|threshold|hope\w*|aim\w*|want\w*"
    r"|called with|config\w*|namespace|arguments"
    r"|baseline|paper|state[- ]of[- ]the[- ]art|sota|random guess\w*|chance|let\b|suppose)\b|\?"
)
_OF_MODEL = lazy_re(
    r"\s*(?:\d{1,2}[.)]\s)?[*-]?\s*[('\"]{0,2}(?P<name>[^\W\d][^:|]{0,60}?)['\"]?"
    rf"\s*(?:[:=|,]|\s-+>?\s|\s)\s*{_NUMBER}\)?(?:\s*(?:\(|\+/?-|±)[\d+/.%± -]{{3,20}}\)?)?,?\s*"
)
_SUMMARY = lazy_re(r"(?i)\W*(?:mean|avg|average|std|stdev|median|overall|total)\b")
_DICT = lazy_re(r"\s*\{((?:['\"][^'\"]{1,60}['\"]: [-+.\de]{1,25}(?:, )?){2,})\}\s*")
_LOGS = {".log", ".out", ".err"}
_RESULTS = {"result", "results", "score", "scores", "metric", "metrics", "report", "eval", "model"}
_Line = tuple[int, str]


def may_say(path: Path) -> bool:
    """Whether a file may hold sentences: the log of a program is none, if it is called as such."""
    log = path.suffix.lower() in _LOGS or path.suffix[1:].isdigit()
    return not log or not _RESULTS.isdisjoint(words(path.stem))


def said_results(others: Sequence[_Line], stem: str) -> tuple[list[Row], bool]:
    """Return what a text says of results, and whether each row is of a training of its own."""
    if len(others) > LONGEST:
        return [], False
    if of_reports(others)[0]:
        return of_reports(others)
    others = [(at, " ".join(line.split())) for at, line in others]
    if found := list(_below(others)) or list(_sentences(others)):
        return found, False
    return of_models(others, stem), True


def _row(at: int, name: str, value: float) -> Row:
    return Row(at, Counted(), (name,), (value,))


def of_reports(others: Sequence[_Line]) -> tuple[list[Row], bool]:
    """Return what each report of classes says of all of them, as `said_results` does."""
    found = []
    for one in reports(others):
        said = {name: value for _, named in one.rows for name, value in named.items()}
        if said:
            found.append(Row(one.rows[0][0], Counted(), tuple(said), tuple(said.values())))
    return found, len(found) > 1


def _below(others: Sequence[_Line]) -> Iterator[Row]:
    """Yield a row for each number below its name, where a text has nothing else."""
    lines = [(at, line.strip()) for at, line in others]
    pairs = list(zip(lines[::2], lines[1::2], strict=False))
    if 2 * len(pairs) != len(lines):
        return
    numbers = [as_number(below.rstrip(" %")) for _, (_, below) in pairs]
    if all(tells(name) for (_, name), _ in pairs) and None not in numbers:
        for (_, name), (at, below) in pairs:
            yield _row(at, name.rstrip(": "), _value(below.rstrip(" %"), below[-1:] == "%"))


def _sentences(others: Sequence[_Line]) -> Iterator[Row]:
    """Yield a row for each number that lines say, but those of a name that is said again."""
    found: list[tuple[int, str, float]] = []
    for at, line in others:
        named = dict(_alone(line) or _within(line)) if len(line) <= WIDE else {}
        found += [(at, name, value) for name, value in named.items()]
    often = Counter(name for _, name, _ in found)
    for at, name, value in found:
        if often[name] == 1:
            yield _row(at, name, value)


def _alone(line: str) -> list[tuple[str, float]]:
    """Return the numbers of a line that is nothing but names and numbers: ``ACC 0.87 F1 0.8``."""
    found, place = [], 0
    while (said := _ALONE.match(line, place)) is not None:
        found.append(said)
        place = said.end() + len(line[said.end() :]) - len(line[said.end() :].lstrip(" ,;|"))
    left = line[place:].strip()
    whole = not left or (left.startswith(("[", "(")) and len(found) == 1)
    named = [_named(one["data"] or "", one["name"], one["number"], one["percent"]) for one in found]
    return [one for one in named if one] if whole else []


def _within(line: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers that a sentence names."""
    if _WANTED.search(line):
        return
    for form in (_SAID, _AHEAD):
        for said in form.finditer(line):
            near = f"{said['data'] or ''} {said['of']} {said['on'] or ''}"
            if found := _named(near, said["name"], said["number"], said["percent"]):
                yield found
    if right := _RIGHT.search(line):
        name = "win rate" if _WON.match(right[0]) else "accuracy"
        if int(right["right"]) <= int(right["all"]):
            yield name, int(right["right"]) / int(right["all"])
    elif share := _WON_SHARE.search(line):
        yield "win rate", float(share[1]) / 100
    for said in _CHINESE.finditer(line):
        data = _DATA_OF.get(said["data"] or "", "")
        yield f"{data} {said['name']}".strip(), _value(said["number"], said["percent"])


def _named(near: str, name: str, number: str, percent: str | None) -> tuple[str, float] | None:
    """Return a name with its data, and its number; None for a whole one, which counts something."""
    if not (percent or "." in number or "," in number or "e" in number.lower()):
        return None
    data = data_in(near)
    return f"{data} {name}".strip(), _value(number, percent)


def data_in(near: str) -> str:
    """Return the data that words near a name are of; "" where they say none.

    >>> data_in(" on the test set of"), data_in("of")
    ('test', '')
    """
    found = _OF_DATA.search(near)
    return found[1].lower() if found else ""


_OF_DATA = lazy_re(r"(?i)\b(train|test|val|eval|dev)(?:ing|id|idation|uation)?\b")


def _value(number: str, percent: object) -> float:
    value = as_number(number.replace(",", ".")) or 0.0
    return value / 100 if percent else value


def of_models(others: Sequence[_Line], stem: str) -> list[Row]:
    """Return a row for each line that is the name of a model and its score: ``SVM: 0.91``.

    What the score is, the file or the title above them says; else the names are those of models.
    """
    whole = _DICT.fullmatch(others[0][1]) if len(others) == 1 else None
    lines = [(others[0][0], one) for one in whole[1].split(", ")] if whole else others
    said = [(at, line, _OF_MODEL.fullmatch(line)) for at, line in lines if line.strip(" -=*#_")]
    said = [(at, line, one) for at, line, one in said if not _SUMMARY.match(line)]
    found = [(at, one) for at, _, one in said if one]
    above = [line for at, line, one in said if not one and (not found or at < found[0][0])]
    labels = [one["name"].strip().lower() for _, one in found]
    decimals = [one for _, one in found if "." in one["number"] or one["percent"]]
    if len(found) < FEWEST or len(set(labels)) < len(labels) or len(said) - len(found) > 1:
        return []
    if len(decimals) < len(found) or any(map(tells, labels)):
        return []
    known = sum(MODEL.search(label) is not None for label in labels)
    told = stem if tells(stem) else named_in(above[0]) if above else ""
    if known < MOSTLY * len(labels):
        return []
    name = told or "result"
    return [
        Row(at, Counted(step=n), (name,), (_value(one["number"], one["percent"]),))
        for n, (at, one) in enumerate(found, 1)
    ]
