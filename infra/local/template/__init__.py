"""Reads a CloudFormation template and creates what it says on the loopback, through the services' own APIs."""
