"""The LeRobotDataset v3.0 folder, written and read with pyarrow alone (and PyAV for its videos)."""
