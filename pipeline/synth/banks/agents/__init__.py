"""Words of generated histories of agents."""
