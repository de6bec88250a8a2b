"""What surrounds the work: options, progress reports, optional packages, and views for notebooks."""
