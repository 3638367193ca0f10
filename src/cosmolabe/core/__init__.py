"""The nouns everything else speaks in; numpy only."""
