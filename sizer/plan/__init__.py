"""Pure: a Study and its runs so far become the next RunSpecs; of an adaptive plan the one next run, and why."""
