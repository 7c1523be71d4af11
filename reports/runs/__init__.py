"""Every run with what its evidence says, and its timeline."""
