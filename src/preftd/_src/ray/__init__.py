"""Studies on a Ray cluster, or on a Ray of their own on one machine; needs the extra `ray`."""
