"""Packet captures, as `tshark` reads them."""
