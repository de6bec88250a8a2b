"""Files in and out: a dataset is a folder of splits with a manifest."""
