"""Formulations: maps from coordinates to frames and strains."""
