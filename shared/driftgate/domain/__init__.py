"""The rules, pure: no clock, no network, no environment, nothing but the standard library."""
