"""Lie groups of rods: rotations (`so3`), poses (`se3`) and unit quaternions (`quaternion`)."""
