"""IAM on one machine: which role calls, what the call needs, and whether the template's policies allow it.

moto evaluates one action per request against `*` and no conditions, so the evaluation is done here.
"""
