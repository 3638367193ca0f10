"""Agents: one a file, each offers AGENT; what two share stands in `core.agent` and `arena`."""
