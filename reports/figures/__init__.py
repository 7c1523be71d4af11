"""Pictures of one workload: its axes, its disks, its machines, what binds where, and the answer that its disks give."""
