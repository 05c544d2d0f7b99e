"""What language models answer from slates, and how good the answers are."""
