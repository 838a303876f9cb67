"""The robot as a tree of parts with joints: numbering, states, forward and backward passes."""
