"""Protocol-level measurement: windows drawn, statistics, comparison."""
