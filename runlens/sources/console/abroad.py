"""Words and numbers of logs as others write them: other languages, C on Windows."""

import re
from collections.abc import Callable

from runlens.naming import words
from runlens.naming.languages import folded, in_english
from runlens.naming.vocabulary import SPLITS
from runlens.patterns import lazy_re

# what Chinese logs count, its number amid the word: "the 3rd round"
_NTH = lazy_re(
    r"第\s*(\d{1,9}(?:\s?/\s?\d{1,9})?)\s*(?:(?P<epoch>轮|个?\s*epoch)|(?P<episode>回合|局|幕)|(?P<step>步|次迭代|次更新))"
    r"(?:[\s/,(]{0,3}共\s*(?P<all>\d{1,9})\s*(?:轮|步|次|个|回合|局)\)?)?"
)
# and its number before the measure word: "iterated 10 times"
_TIMES = lazy_re(r"(?<![\w])(?:迭代|训练)\s*(\d{1,9})\s*(?:次|步)")
# words of Vietnamese are written a syllable each, so that what they mean is lost name by name
_SYLLABLES = {
    "mất mát": "loss", "độ chính xác": "accuracy", "huấn luyện": "train", "kiểm định": "val",
    "xác thực": "val", "kiểm tra": "test", "kiểm thử": "test", "vòng lặp": "epoch",
}  # fmt: skip
_OF_SYLLABLES = lazy_re("|".join(_SYLLABLES), re.IGNORECASE)
_ORDINAL = lazy_re(r"\s*\d{1,9}(?=(?:st|nd|rd|th)\b)")  # "3rd epoch: loss 0.5"
# "the loss of the 3rd epoch: 0.5", and in Japanese
_ORDINAL_WITHIN = lazy_re(r"(?i)(?<=\w )(\d{1,9})(?:st|nd|rd|th) (epoch|iteration|step|episode)\b")
# what a line is of, as its first word says: "Walidacja: strata 0.5"
LONGEST_LABEL = 28  # characters
_LABEL = lazy_re(r"^(\W{0,6})([^\W\d_]{2,20})(?=\s?[:：])")
_NO_ENGLISH = lazy_re(
    r"(?:train(?:ing)?|valid(?:ation|ating)?|val|test(?:ing)?|eval(?:uation|uating)?|dev)\b",
    re.IGNORECASE,
)
# a word that counts, its number right behind it
_GLUED_COUNT = lazy_re(r"(轮数|轮次|步数|回合|局数|エポック|ステップ|에포크|에폭|스텝)(?=\d)")
_NTH_EPOCH = lazy_re(r"(?<!\d)(\d{1,9}) ?(?:エポック|イテレーション|回)目")
_EPOCH_ABROAD = lazy_re(
    r"\b(?:(?:epoca|epoque|epoche)s?|epok[ai]?|epocha|epoch thu|epookki)\b(?=\W{0,3}\d)"
    r"|^(?:donem|devir|durchlauf|durchgang)\b(?=\W{0,3}\d)",
    re.IGNORECASE,
)
_ELIDED = lazy_re(r"\b(?:[dl]['\u2019]|d[aeo] )(?=[a-z])", re.IGNORECASE)  # "perte d'entrainement"
_BEGINS = ("donem", "devir", "durch")  # what an epoch is called in Turkish and German
_OF_ABROAD = lazy_re(
    r"(?<=epoch )(\d{1,9}) (?:von|de|sur|di|van|av|ze?) (?=\d)"
)  # "Epoche 3 von 20"
# a German batch: behind another counter, and before what was measured in it; no value of a loss
_BATCH_ABROAD = lazy_re(r"(?<=\d)([\s,;|]{1,4})Los(?=\s{1,8}\d{1,9}(?:/\d{1,9})?\s?:\s)")
# word2vec and what follows it print the learning rate by its letter, before the share that is done
_ALPHA = lazy_re(r"\bAlpha(?=: ?[\d.]{1,12}\s{1,4}Progress: ?[\d.]{1,6} ?%)")
_LOSS_OF = lazy_re(r"\b(perd(?:i[dt])?a|perte)s? d[aeio] (?=[a-z])", re.IGNORECASE)
# what an agent plays, in a row or above it: "Episodio 3", "第3回合"
_OF_AGENT = lazy_re(
    r"\bepisod(?:e|i|en|es|io|ios)\b|\bepizod|\bgames?\W{0,3}\d|\benv(?:ironment)?[_ ]?steps?\b"
    r"|\d ?ep(?:isode)?s?/s\b"
    r"|\u044d\u043f\u0438\u0437\u043e\u0434|\u56de\u5408|\u30a8\u30d4\u30bd\u30fc\u30c9|\uc5d0\ud53c\uc18c\ub4dc",
    re.IGNORECASE,
)
# a line of nothing but these says which data the lines below it are of
_LONGEST_HEADING = 60
_ON_DATA = {
    "train": r"train(?:ings?)?|entrainement|apprentissage|entrenamiento|addestramento|treinamento"
    r"|treino",
    "test": r"tests?|teste|pruebas?|collaudo",
    "validation": r"validation|validierungs?|validacion|validacao|validazione|evaluation"
    r"|evaluierung|auswertung|evaluacion|avaliacao|valutazione",
}
_OF_DATA = (
    r"results?|resultats?|resultados?|risultat[oi]|ergebnisse?|metrics|metri(?:ques|cas|che|ken)"
    r"|of|on|the|d[eiao]|del(?:la|l|lo)?|d[eu]s|dem|der|die|das|den|l[aeo]|el|il|auf|sur|sul|en|em|nel"
    r"|fase|phase|set|ensemble|conjunto|insieme|daten|dati|datos|dados|donnees"
)
_DATA = "|".join(f"(?P<{data}>{words})" for data, words in _ON_DATA.items())
_HEADING = lazy_re(rf"[\W_]*(?:(?:{_OF_DATA}|{_DATA})(?:[\W_]+|$|(?=daten|set)))+", re.IGNORECASE)
_FIELD = lazy_re(r" +\w+: [A-Z_]+")  # of a text of protobuf: Caffe's "    phase: TEST"
_ENGLISH = lazy_re(r"[\W_]*(?:train(?:ing)?|tests?|validation|evaluation)[\W_]*", re.IGNORECASE)
# the server of Flower prints a tuple: round, loss, other metrics, seconds
_OF_FLOWER = lazy_re(r"\bfit progress: \((\d{1,9}), ([-+.\w]{1,30}), (\{[^{}]*\}), [\d.]+\)")
# as C prints them on Windows: -1.#IND00, 1.#QNAN, 1.#INF00
_OF_C = lazy_re(r"([-+]?)\b1\.#(?:(?P<nan>IND|[QS]NAN)|INF)\d*")
# over how many the mean was taken that a bar above a letter says: "R\u0304100=3.5"
_OF_MEAN = lazy_re(r"(?<=[A-Za-z][\u0304\u0305])_?\d{1,4}(?=\s?[:=])")
_MEANS = ("\u0304", "\u0305")
# Torch7's mean of what it minimises over the batches of an epoch
_OF_TORCH = lazy_re(r"(?<!\w)f\(x\) (?:average|mean)(?=\s?:)")
# of the preferred answer of a pair, and of the other: "r+=+0.1 r-=-0.2"
_SIGNED = lazy_re(r"(?<![\w.])r([+-])(?=\s?[:=]\s?[-+]?[\d.])")
_OWNED = lazy_re(r"(?<=\w)'s (?=[\w@ -]{1,30}[:=])")  # LightGBM: "valid_1's auc: 0.7"
_OF_FORTRAN = lazy_re(r"(?<=\d)D(?=[-+]\d{1,3}\b)")  # 2.5D-01


# a mark that such a line holds, its form, and how it is read
_AS_WRITTEN: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    ("fit progress: (", _OF_FLOWER, r"round \1: loss \2, \3"),
    ("1.#", _OF_C, lambda found: "nan" if found["nan"] else f"{found[1]}inf"),
    ("'s ", _OWNED, " "),
    ("f(x) ", _OF_TORCH, "loss"),
    ("r+", _SIGNED, lambda found: "r_pos" if found[1] == "+" else "r_neg"),
    ("Progress:", _ALPHA, "lr"),
    ("Los ", _BATCH_ABROAD, r"\1batch"),
)


def in_ascii(line: str) -> str:
    """Return a line without accents, its counters and its NaN written as those that are known."""
    if not line.isascii():
        line = _OF_SYLLABLES.sub(lambda said: _SYLLABLES[said[0].lower()], line)
        line = _OF_MEAN.sub("", line) if any(bar in line for bar in _MEANS) else line
        line = _TIMES.sub(r"step \1 ", _GLUED_COUNT.sub(r"\1 ", line))
        line = _NTH.sub(_numbered, _ELIDED.sub("", folded(_NTH_EPOCH.sub(r"epoch \1 ", line))))
    if line.find(":", 1, LONGEST_LABEL) > 0 and not line[:1].isdigit():
        line = _LABEL.sub(_of_data, line)
    if line[:1].isdigit() and (nth := _ORDINAL.match(line)):
        line = nth[0] + line[nth.end() + len("th") :]
    if "th " in line or "st " in line or "nd " in line or "rd " in line:
        line = _ORDINAL_WITHIN.sub(r"\2 \1", line)
    for mark, form, written in _AS_WRITTEN:
        if mark in line:
            line = form.sub(written, line)
    if "D-" in line or "D+" in line:
        line = _OF_FORTRAN.sub("e", line)
    if "er" in line and " d" in line:
        line = _LOSS_OF.sub(r"\1 ", line)
    if "po" in line or line[:5].lower() in _BEGINS:
        line = _OF_ABROAD.sub(r"\1/", _EPOCH_ABROAD.sub("epoch", line))
    return _heading(line) if len(line) <= _LONGEST_HEADING else line


def name_in_english(name: str) -> str:
    """Return what a setting is called, in English.

    >>> name_in_english("Taux d'apprentissage"), name_in_english("скорость обучения")
    ('Taux apprentissage', ' lr ')
    """
    said = name if name.isascii() else in_english(name)
    return _ELIDED.sub("", said) if "'" in said or " d" in said else said


def _heading(line: str) -> str:
    """Return a heading of data in English: ``validation:`` of "Ergebnisse der Validierung"."""
    found = _HEADING.fullmatch(line)
    if found and ("|" in line or _FIELD.fullmatch(line)):
        return line  # it names columns, "Training | Validation", or is a field of a network
    return (
        f"{found.lastgroup}:"
        if found and found.lastgroup and not _ENGLISH.fullmatch(line)
        else line
    )


def of_agent(line: str) -> bool:
    """Whether a line counts episodes, games or steps of an environment."""
    return _OF_AGENT.search(line if line.isascii() else folded(line)) is not None


def _of_data(label: re.Match[str]) -> str:
    """Return the label of a line in English, where it is of data: ``Валидация:``."""
    said = () if _NO_ENGLISH.match(label[2]) else words(label[2])
    return f"{label[1]}{said[0]}" if len(said) == 1 and said[0] in SPLITS else label[0]


def _numbered(found: re.Match[str]) -> str:
    kind = next(kind for kind in ("epoch", "episode", "step") if found[kind])
    return f" {kind} {found[1]}{'/' * bool(found['all'])}{found['all'] or ''} "
