"""Images that are compared with themselves: a PSNR that is infinite at each evaluation."""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.metrics import spoken
from runlens.run import Run
from runlens.wording import capitalised, step


def of_itself(run: Run, metric: str) -> bool:
    """Whether a metric is a PSNR that is infinite each time: images that are equal to the bit."""
    value = run.curve(metric).value
    return "psnr" in metric.lower() and len(value) > 1 and bool(np.isposinf(value).all())


def finding(run: Run, metric: str) -> Finding:
    """Tell a PSNR of images against themselves."""
    curve = run.curve(metric)
    onset = int(curve.step[0])
    name = capitalised(spoken(metric).replace("_", " "))
    return Finding(
        severity="warning",
        title=f"{name} was infinite from step {step(onset)} on, at all {len(curve):,} evaluations.",
        metric=metric,
        onset=Moment(float(onset)),
        evidence=(Evidence("Evaluations that are infinite", float(len(curve)), where=metric),),
        seen="PSNR is infinite only for two equal images, so it says nothing of the model.",
        fixes=(
            fixes.look(
                "Print the file names and the largest difference of output and target of one image",
                "a path that is read twice, and a crop that leaves nothing, give an error of 0",
            ),
        ),
        confidence=Confidence(1.0, "the value itself is logged"),
        chart=Chart("curves", (metric,)),
    )
