"""What is said of a study, not of one answer: what would be run, what a first run shows, and what its table lacks."""
