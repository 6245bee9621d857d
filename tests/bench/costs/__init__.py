"""What a deployment costs in AWS: counted per heartbeat, look, poll and roll, multiplied, checked on a small day."""
