"""Which labeled runs a run is like, and what they were."""

from runlens.similar.library import Answer, Known, Near, like

__all__ = ["Answer", "Known", "Near", "like"]
