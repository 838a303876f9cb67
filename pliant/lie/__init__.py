"""Lie groups of rods: rotations (`so3`) and poses (`se3`)."""
