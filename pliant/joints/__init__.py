"""Joints: how parts hang on frames of other parts, one file each."""
