"""Experience: transitions from tasks, Gymnasium environments and logs, in one type."""
