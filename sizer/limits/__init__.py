"""What a run may use: vCPUs, memory and disk, set on this host and read back.

Nothing outside this package asks how the limits are set: cgroup v1, cgroup v2 or, for ordinary users, CPU affinity.
"""
