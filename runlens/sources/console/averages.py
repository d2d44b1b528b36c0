"""The number in brackets behind that of a batch, ``loss 0.41 (0.52)``: the mean so far.

At the end of an evaluation, or of an epoch, it is what was measured; that of the last batch is not.
"""

MARK = " (avg)"  # as the mean so far is called


def averaged(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names with the means so far in the place of the batch's, which become empty.

    >>> averaged(("loss", "loss (avg)", "lr"))
    ('', 'loss', 'lr')
    """
    means = {name.removesuffix(MARK) for name in names if name.endswith(MARK)}
    return tuple("" if name in means else name.removesuffix(MARK) for name in names)
