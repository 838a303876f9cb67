"""Physical effects, each written once, acting on frames and strains."""
