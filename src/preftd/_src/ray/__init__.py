"""Studies on a Ray cluster, or on a private Ray on one machine; needs the extra `ray`."""
