"""Pictures: elements of SVG, and the colours of all pages, pictures and charts."""
