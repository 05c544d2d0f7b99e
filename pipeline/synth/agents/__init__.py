"""Generated histories of agents: steps that need again what steps long before them showed."""
