"""The commands of `slatemill`, by what they are for. Each imports what it needs when it is called."""
