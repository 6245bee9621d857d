"""Carries events as EventBridge, Scheduler, SQS, SNS and Lambda would, by what the template says and nothing else."""
