"""Studies of whole robots: comparison, resolution, identification, many robots in parallel."""
