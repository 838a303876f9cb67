"""Explicit steps of robots whose inertia is lumped at rigid nodes."""
