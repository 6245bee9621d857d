"""driftgate opens a Karpenter disruption budget for exactly one node, and puts it back."""

__version__ = "0.1.0"
