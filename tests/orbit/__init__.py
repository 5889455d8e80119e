"""Constellations: their files, geometry, forwarding and figures."""
