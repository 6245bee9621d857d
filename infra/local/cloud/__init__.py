"""AWS on the loopback: moto, IAM in front of it, and one declared layer of what moto lacks."""
