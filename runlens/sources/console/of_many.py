"""Of how many a number is the mean, between its name and itself: no number of the training.

``Mean test loss of 312 batches: 4.811185.`` is read as ``Mean test loss: 4.811185.``
"""

from runlens.patterns import lazy_re

_MANY = lazy_re(
    r"((?:loss|acc(?:uracy)?|error|score|perplexity|ppl|reward|mse|mae|f1)) "
    r"(?:of|over|on|for|across|in|from) (?:the |all |last )*\d[\d,]{0,11} "
    r"(?:(?:train(?:ing)?|test|val(?:idation)?|eval(?:uation)?|mini-?) ?)?"
    r"(?:batch(?:es)?|samples?|examples?|images?|videos?|clips?|sequences?|sentences?|tokens"
    r"|iterations|iters|graphs|molecules|documents|words|frames|points)(?=\s?[:=])",
    2,  # re.IGNORECASE
)
# in the place of a number, before its name again: "Acc: 600 Test Acc = 67.9%"
_AHEAD = lazy_re(
    r"\b(loss|acc(?:uracy)?)\s?[:=]\s?\d{1,9} (?=(?:train|test|val|eval|dev)\w{0,6} \1\s?[:=])",
    2,  # re.IGNORECASE
)
# the first of the batches that a mean is of, which are counted up to the last: "Minibatch[1-100]"
_FIRST = lazy_re(
    r"(\b(?:mini-?)?batch(?:es)? ?\[) *\d{1,9} ?- *(?=\d{1,9}[\],])", 2
)  # re.IGNORECASE
# what a score is of, behind its name, as AutoGluon prints it: "0.91 = Validation score (accuracy)"
_MEASURE = lazy_re(r"\bscore\s+\((-?)([a-z]\w{2,40})\)\s*$", 2)  # re.IGNORECASE


def without_count(line: str) -> str:
    """Return a line without the count of what a mean is of.

    >>> without_count("Minibatch[ 101- 200]: loss = 2.3")
    'Minibatch[200]: loss = 2.3'
    >>> without_count("0.91 = Validation score (accuracy)")
    '0.91 = Validation accuracy'
    >>> without_count("Mean test loss of 312 batches: 4.8")
    'Mean test loss: 4.8'
    """
    if line.endswith(")") and "core" in line:
        line = _MEASURE.sub(lambda of: f"{'negative ' if of[1] else ''}{of[2]}", line)
    line = _FIRST.sub(r"\1", line) if "atch" in line and "-" in line else line
    return _AHEAD.sub("", _MANY.sub(r"\1", line)) if ":" in line or "=" in line else line
