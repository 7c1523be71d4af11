"""The ways of limiting, behind `sizer.limits.interface`: cgroup v1, cgroup v2 and, for ordinary users, CPU affinity."""
