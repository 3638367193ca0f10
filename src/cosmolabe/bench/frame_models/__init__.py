"""World models of pixels: one trained here, anyone's rolled out, checked and measured."""
