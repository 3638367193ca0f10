"""Speed against real peers, as ratios measured interleaved in one process."""
