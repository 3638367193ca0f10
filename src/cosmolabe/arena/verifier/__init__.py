"""The sealed verifier: it sees predictions, never runs what an agent wrote outside a sandbox."""
