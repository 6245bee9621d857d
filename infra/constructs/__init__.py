"""One construct per concern of the deployment."""
