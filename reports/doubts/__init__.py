"""What failed, what runs warned of, and how the host drifted."""
