"""Contact: where bodies touch, and what acts there."""
