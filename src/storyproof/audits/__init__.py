"""What is wrong in a dataset, row by row."""
