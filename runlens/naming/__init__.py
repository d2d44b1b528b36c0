"""Names as sets of words: what a logged number or a setting is, whoever named it.

`words` splits a name, `vocabulary` knows each word, `quantities` knows what sets of words measure,
`classify` joins the three. Exact names of frameworks come before it, in `runlens.metrics`.
"""

from runlens.naming.classify import SURE, Meaning, classify
from runlens.naming.languages import in_english
from runlens.naming.words import words

__all__ = ["SURE", "Meaning", "classify", "in_english", "words"]
