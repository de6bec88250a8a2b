"""Draw families: as trees for the terminal, and as SVG pictures for reports."""
