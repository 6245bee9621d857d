"""The pipeline on one machine: a simulated cluster, AWS by moto, and the real handlers."""
