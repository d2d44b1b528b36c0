"""Why a run went wrong: one step over the whole run.

A cause is a hypothesis: which findings it explains, which signs it predicts, what excludes it. The
step asks all that explain what was found, drops what is excluded, and ranks the rest by what speaks
for them. An input that changed before the first symptom leads; what has no positive sign is
never likely; where nothing speaks clearly the cause is `unknown`, with the experiment that tells.

    told = causes.explained(run, signals, incidents)
    told.incidents[0].findings[0].causes[0].kind    # "rate-leaves-plan"
    told.story    # the rate goes off schedule 60, gradient norm x10 92, NaN 98
"""

from runlens.causes.ranking import HYPOTHESES, Explained, explained, judge

__all__ = ["HYPOTHESES", "Explained", "explained", "judge"]
