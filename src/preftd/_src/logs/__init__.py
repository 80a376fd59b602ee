"""Values from logs: recorded experience in files, with rows that deserve less trust than others."""
