"""World models: one file each, whose name is the model's name."""
