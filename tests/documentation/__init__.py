"""The pages of the guide, beside the output of their commands."""
