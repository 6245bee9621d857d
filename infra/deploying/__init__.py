"""Deploys with nothing but this checkout and AWS credentials: no CDK command, no Node, no bootstrap (`make deploy`)."""
