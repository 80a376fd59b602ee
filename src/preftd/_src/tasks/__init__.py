"""Tasks: chains with rewards and features, solved exactly or sampled, and those of the paper."""
