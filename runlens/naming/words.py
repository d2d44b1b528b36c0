"""A logged name as words: ``Val/EpochLoss`` -> ``val epoch loss``, in one spelling of each."""

import re
from functools import lru_cache

from runlens.naming.languages import in_english, in_full
from runlens.naming.vocabulary import GLUED, PHRASES, SYNONYMS
from runlens.patterns import lazy_re

# a mixed-case term is one word: mAP, IoU, F1; "EpRewMean" and "XEntLoss" are several
_TERMS = lazy_re(r"m?IoU|mAP|RougeL|rougeL|BatchNorm|AdamW|LoRA|XEnt")
_HUMPS = lazy_re(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OWNED = lazy_re(r"['\u2019]s\b")  # LightGBM: "valid_1's auc"
_FIT = lazy_re(r"(?<=\w)\s*[(\[]fit(?:ted)?[)\]]$")  # the rows that a model was fitted to
_LOGGED = lazy_re(r"(?i)^logs?/")  # "log/loss" is no log loss
# a loss as papers write it: "L_adv" is the part of it that "adv" names; "L_hand" is a left hand
_AS_IN_PAPERS = lazy_re(
    r"^L_(?=(?:total|all|sum|adv|gan|G|D|gen|disc?|rec(?:on)?|con|enc|lat(?:ent)?|kld?|cls|reg|ce|bce"
    r"|mse|mae|l[12]|perc(?:ep)?|vgg|idt?|cyc(?:le)?|style|content|tv|ssim|mask|box|obj|dice|data"
    r"|phys?|pde|[bi]c|res|feat|sup|unsup|cons|contrast|triplet|distill|kd|aux|pixel|depth|flow"
    r"|(?:info)?nce|ntxent|nll|ctc)$)"
)
_CUT = lazy_re(r"[A-Za-z]{6,}\.(?=[\s)]|$)")  # "Genauigk."
_APART = lazy_re(r"[^a-z0-9@]+")
_AT = lazy_re(r"([a-z]+)@(\d+)")  # Acc@1
_NUMBERED = lazy_re(r"([a-z]{3,})(\d+)")
_OF_LAST = "last"  # so many: "last20"
LONGEST = 200  # characters of a name; far above those of 3,034 labelled ones
KEPT = 65_536  # names: the widest tables have some 20,000, and each is asked for four times
# the letter of a split before what it measures: "vloss", "tacc"
_LETTERED = lazy_re(r"([vt])(loss|acc)")
LONGEST_GLUED = 24  # characters of a word that may be several: "trainloss"


@lru_cache(maxsize=KEPT)
def words(name: str) -> tuple[str, ...]:
    """Split a name at separators, humps and known words written as one; unify the spelling.

    A name above 200 characters has no words: it is a path through nested data, and no metric's.

    >>> words("Val/EpochLoss"), words("valid_1's binary_logloss"), words("trainAcc@1")
    (('val', 'epoch', 'loss'), ('val', '1', 'binary', 'logloss'), ('train', 'acc1'))
    """
    if len(name) > LONGEST:
        return ()
    name = _FIT.sub(" train", _AS_IN_PAPERS.sub("loss_", in_english(name)))
    name = _CUT.sub(_in_full, name) if "." in name else name
    text = _TERMS.sub(
        lambda term: f" {term[0].lower()} ", _OWNED.sub("", _LOGGED.sub("", name.strip()))
    )
    text = _HUMPS.sub(" ", text).lower()
    found = [part for piece in _APART.split(text) for part in _parts(piece) if part]
    return _with_phrases([SYNONYMS.get(word, word) for word in found])


def _in_full(cut: re.Match[str]) -> str:
    word = cut[0].lower()
    return cut[0] if word[:-1] in SYNONYMS else in_full(word, SYNONYMS) or cut[0]


def _parts(piece: str) -> tuple[str, ...]:
    """Take a piece without separators apart where it is two known words, or a word and a number."""
    piece = _AT.sub(r"\1\2", piece).strip("@")
    if piece in SYNONYMS or piece in GLUED or len(piece) > LONGEST_GLUED:
        return (piece,)
    if lettered := _LETTERED.fullmatch(piece):
        return lettered[1], lettered[2]
    if glued := _unglued(piece):
        return glued
    numbered = _NUMBERED.fullmatch(piece)
    if numbered and (numbered[1] in GLUED or numbered[1] in SYNONYMS or numbered[1] == _OF_LAST):
        return numbered[1], numbered[2]
    return (piece,)


def _unglued(piece: str) -> tuple[str, ...]:
    """Return the known words that a piece is made of, the longest first; nothing for others."""
    if piece in GLUED:
        return (piece,)
    for cut in range(len(piece) - 2, 1, -1):
        if piece[:cut] in GLUED and (rest := _unglued(piece[cut:])):
            return piece[:cut], *rest
    return ()


def _with_phrases(found: list[str]) -> tuple[str, ...]:
    """Write neighbors that are one word of the field as that word: ``learning rate`` -> ``lr``."""
    joined: list[str] = []
    at = 0
    while at < len(found):
        for length in (4, 3, 2):
            if short := PHRASES.get(tuple(found[at : at + length])):
                joined.append(short)
                at += length
                break
        else:
            joined.append(found[at])
            at += 1
    return tuple(joined)
