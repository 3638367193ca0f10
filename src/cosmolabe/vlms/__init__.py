"""Vision-language models, one file each: they look at frames and answer a question in words."""
