"""Studies of whole robots: comparison of formulations, identification from measurements."""
