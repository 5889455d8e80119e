"""The environment for training."""
