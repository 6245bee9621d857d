"""What Lambda does for a function: its environment, a process of its own, retries, and a place for failures."""
