"""Programs that run in a sandbox, beside the slim package: copied there, not imported here."""
