"""Pure: runs -> Model; what binds each workload, and what throughput other limits would give."""
