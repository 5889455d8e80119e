"""Programs and flows in real time on emulated hosts."""
