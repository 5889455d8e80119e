"""Stream schedulers written in Python."""
