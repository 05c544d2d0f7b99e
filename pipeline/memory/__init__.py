"""What a call sees of a history under a budget: a timeline of records, and detail at the resolution that fits."""
