"""What came out, for people: tables and timelines."""
