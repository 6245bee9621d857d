"""Starts and stops a real control plane for the end-to-end tests; see controlplane.py."""
