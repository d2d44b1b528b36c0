"""The number in brackets behind that of a batch, ``loss 0.41 (0.52)``: the mean so far."""

MARK = " (avg)"  # what its name has more than that of the batch
