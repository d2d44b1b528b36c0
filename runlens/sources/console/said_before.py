"""What the sentence of PyTorch's tutorial says of held-out data in front of a row, in its line.

``Accuracy of the network on the 10000 test images: 54.5 Epoch [2/50], Step [48/48], Loss: 0.5``:
the number is of the data, and the loss behind it of the training, as in the rows without it.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re

_SAID = lazy_re(
    r"\W{0,4}(?:the )?(?:(?:average|mean|overall|final) )?(?P<name>[a-z]{3,12}) of the "
    r"(?:model|network|net|classifier) on the (?:\d{1,9} )?(?P<data>test|validation|val)\b"
    r"[^\d:=]{0,40}[:=]?\s*(?P<number>[-+]?\d[\d.]*(?:e[-+]?\d{1,3})?\s?%?|nan|inf)[\s,;|]+"
    r"(?P<row>\[?(?:epoch|step|iter)[^\w]{0,3}\d.*)",
    2,  # re.IGNORECASE
)
_Line = tuple[int, str]


def with_said_behind(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with what such a sentence says behind the row, by the name of its data.

    >>> line = "Error of the model on the 13 test images is: 0.25 Epoch [2/50], Loss: 0.5"
    >>> with_said_behind([(0, line)])
    [(0, 'Epoch [2/50], Loss: 0.5, test error: 0.25')]
    """
    said = {n: found for n, (_, line) in enumerate(others) if (found := _match(line))}
    if not said:
        return others
    return [(at, said.get(n, line)) for n, (at, line) in enumerate(others)]


def _match(line: str) -> str:
    if " of the " not in line or not (found := _SAID.fullmatch(line)):
        return ""
    row = found["row"].rstrip(" ,;|")
    return f"{row}, {found['data'].lower()} {found['name'].lower()}: {found['number']}"
