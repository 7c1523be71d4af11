"""A study folder that survives whatever happens to its writer."""
