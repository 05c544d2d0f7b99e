"""Language models: engines that run them, and the care that a batch of prompts needs."""
