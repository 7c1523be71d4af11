"""Pure: a Study and the runs known so far become the next RunSpecs."""
