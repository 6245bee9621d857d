"""A cluster that is only pretended: a Kubernetes API on the loopback and a model of Karpenter's disruption.

For the demo, `driftgate simulate`, and tests. Nothing here decides for the product, and nothing of the product
is called from here but the rules of `driftgate.domain.budget`.
"""
