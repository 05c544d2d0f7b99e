"""What a run is worth: outcomes by request, and shares with their intervals by stratum."""
