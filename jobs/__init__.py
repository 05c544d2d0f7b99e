"""What a person runs: the command `slatemill`, its jobs, the graph of stages and the profiles."""
