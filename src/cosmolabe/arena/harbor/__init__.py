"""Tasks for Harbor: folders that its runner takes; Harbor itself is never imported."""
