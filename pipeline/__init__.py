"""What each stage computes: pure functions over Arrow tables. Imports no Ray and opens no file."""
