"""Numbers that an array prints with its own name: ``tensor(0.52, device='cuda:0')``."""

from runlens.patterns import lazy_re

_WRAPPED = lazy_re(
    r"(?:\b\w+\.)?(?:float\d*|int\d*|tensor|Tensor|[vV]ariable|DeviceArray|Array|array|Decimal)\(\s*"
    r"(?:\[{1,2}\s*([-+.\w]+)\s*\]{1,2}|([-+.\w]+)\s*)(?:,[^()]*(?:\([^()]*\)[^()]*)?)?\)"
)


def wrapped(line: str) -> bool:
    """Whether a number of a line stands in such a call."""
    return _WRAPPED.search(line) is not None


def unwrapped(line: str) -> str:
    """Return a line with the numbers in place of the calls around them.

    >>> unwrapped("3  tensor(0.52, device='cuda:0')  np.float32(0.1)")
    '3  0.52  0.1'
    """
    return _WRAPPED.sub(r"\1\2", line)
