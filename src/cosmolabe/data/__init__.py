"""From play to tensors: players, collecting, stores, windows, envelopes, video, damage."""
