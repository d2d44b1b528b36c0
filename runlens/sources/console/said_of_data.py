"""What the head of a log says of its data and its model: rows, classes, what is trained.

A number of rows stands beside that of the other set, or beside the word for rows: "train 1103 val
300", "120 rows to train on, 30 held out, 2 classes". Of lines that say the same thing twice with
other numbers none counts: they are the rows of a log, or of several data sets.
"""

import re
from collections.abc import Sequence

from runlens.naming.languages import folded
from runlens.patterns import lazy_re
from runlens.sources.console.forms import by_form

MOST = 400  # lines that are looked at: the head of a log
LONGEST = 300  # characters of one
FEWEST_CLASSES, MOST_CLASSES = 2, 100_000
ROWS, EVAL, CLASSES = "train_rows", "eval_rows", "classes"
TRAINED, ALL = "trainable_parameters", "all_parameters"

_N = r"(\d{1,3}(?:,\d{3})+|\d{1,9})(?![\d.,]*\d|\s?%|/)"
_UNIT = (
    r"(?:rows|images|samples|examples|sequences|sentences|pairs|utts|utterances|records|items|files"
    r"|beispiele|zeilen|bilder|muestras|ejemplos|exemples|lignes)"
)
_TRAIN = r"(?:train(?:ing(?:s?satz)?)?|trn|entrenamiento|entrainement|treino|allenamento)"
_EVAL = r"(?:val(?:id(?:ation|ierung)?)?|dev|test|eval(?:uation)?|hold-?out|held[- ]out|prueba)"
_GAP = r"[\s,;|/&+]{1,6}(?:and |und |et |y )?"
# as in "train: 3000 rows, 68 positive | valid: 1000 rows", "train utts=16 dev utts=3"
_NAMED = lazy_re(
    rf"(?<![a-z]){_TRAIN}(?: (?:set|folder|data|{_UNIT}|size))?\s?[:=]?\s?{_N}(?: {_UNIT})?"
    rf"(?:, \d+ [a-z]{{3,12}})?{_GAP}(?:[#n]_?|num_)?{_EVAL}(?: (?:set|folder|data|{_UNIT}|size))?"
    rf"\s?[:=]?\s?{_N}"
)
# as in "120 rows to train on, 30 held out", "120 Trainings-, 20 Testbeispiele"
_BEFORE = lazy_re(
    rf"(?<![\w.,/]){_N} (?:{_UNIT} )?(?:to )?{_TRAIN}(?:s-|ing)?(?: on| {_UNIT})?{_GAP}"
    rf"{_N} (?:{_UNIT} )?{_EVAL}(?:{_UNIT})?(?![a-z])"
)
_GERMAN = lazy_re(rf"(?<![a-z])trainings(?:{_UNIT}|daten|satz)\s?[:=]\s?{_N}")
_LINES = lazy_re(
    rf"(?<![a-z])train(?:ing)?(?: (?:set|folder|data))?\s?[:=]\s{{1,4}}{_N} {_UNIT}(?![a-z/])"
)
_CLASS = lazy_re(
    rf"(?<![\w.,/-]){_N}[ -]?(?:classes|klassen|clases|classi|类)(?![a-z])"
    rf"|(?<![a-z_])(?:classes|klassen|clases|classi)\s?[:=]\s?{_N}"
)
# "Trainable params: 2,170 (8.48 KB)" of Keras, "2.1 K     Trainable params" of Lightning
_COUNT = r"(?P<size>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>[KMB])?"
_PARAMS = lazy_re(
    rf"^\W*(?P<what>trainable|total) params:\s*(?P<keras>\d[\d,]*)(?![\d.]|\s[KMB]\b)"
    rf"|^\W*{_COUNT}\s+(?P<then>trainable|total) params\W*$",
    re.IGNORECASE,
)
# as in "trainable params: 6 / 6534", "model params: 273 (num. trained: 273)"
_SHARE = lazy_re(
    r"trainable (?:param(?:eter)?s?)?\s?[:=]?\s?(?P<some>\d[\d,]*) ?(?:/|of|out of) ?"
    r"(?P<of>\d[\d,]*)"
    r"|param\w*[ a-z.]{0,12}[:=]\s?(?P<all>\d[\d,]*)\W{1,4}(?:davon |num\. |of which )?"
    r"(?:train(?:ed|able|ierbar)|entrenables|entrainables)\s?[:=]\s?(?P<part>\d[\d,]*)",
    re.IGNORECASE,
)
_SCALE = {"": 1, "K": 1e3, "M": 1e6, "B": 1e9}
_MAY = lazy_re(r"train|trn|entren|entrai|trein|allen|clas|klass|类|param", re.IGNORECASE)
# what rows of a log measure or count by
_MEASURED = lazy_re(
    r"loss|acc|err|epoch|step|iter|\bep(?![a-z])|time|[a-z]/s|/sec|\d\.\d{2}|\bit\b"
)
PERCENT = 100  # "train 80 val 20" are shares


def said_of_data(lines: Sequence[str]) -> dict[str, int]:
    """Collect what lines say of data and parameters, and no other line says otherwise.

    >>> said_of_data(["fold 0: train 1200 rows, valid 300 rows", "8 classes, sigmoid mlp"])
    {'train_rows': 1200, 'eval_rows': 300, 'classes': 8}
    """
    found: dict[str, set[int]] = {}
    for line in lines[:MOST]:
        if len(line) <= LONGEST and _may(line):
            for key, some in _said(line).items():
                found.setdefault(key, set()).add(some)
    known = {key: some.pop() for key, some in found.items() if len(some) == 1}
    if not 0 < known.get(TRAINED, 0) <= known.get(ALL, 0):  # of two models, or half of a table
        known = {key: some for key, some in known.items() if key not in {TRAINED, ALL}}
    return known


@by_form
def _may(line: str) -> bool:
    return _MAY.search(line) is not None


def _said(line: str) -> dict[str, int]:
    plain = folded(line).lower()
    if share := _SHARE.search(plain):
        some, all_ = share["some"] or share["part"], share["of"] or share["all"]
        return {TRAINED: _whole(some), ALL: _whole(all_)}
    if params := _PARAMS.match(line):
        what = (params["what"] or params["then"]).lower()
        size = _whole(params["keras"]) if params["keras"] else _scaled(params)
        return {TRAINED if what == "trainable" else ALL: size}
    if _MEASURED.search(plain):
        return {}
    own: dict[str, int] = {}
    if pair := _NAMED.search(plain) or _BEFORE.search(plain):
        some, held = _whole(pair[1]), _whole(pair[2])
        own = {ROWS: some, EVAL: held} if some + held != PERCENT else {}
    elif one := _GERMAN.search(plain) or _LINES.search(plain):
        own = {ROWS: _whole(one[1])}
    many = {_whole(one or other) for one, other in _CLASS.findall(plain)}
    if len(many) == 1 and FEWEST_CLASSES <= (number := many.pop()) <= MOST_CLASSES:
        own[CLASSES] = number
    return own


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def _scaled(params: re.Match[str]) -> int:
    """Return a count of Lightning's: "11.3 K"."""
    return round(float(params["size"].replace(",", "")) * _SCALE[(params["scale"] or "").upper()])
