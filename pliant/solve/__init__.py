"""Statics, dynamics and modes of a compiled robot."""
