"""The use cases: observe through ports, decide in the domain, apply through ports."""
