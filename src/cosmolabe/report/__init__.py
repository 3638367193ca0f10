"""Reports, drawn from records and nothing else."""
