"""How a slate reads: its styles, and chosen turns as text."""
