"""One run of a model: which questions it is asked and how, what is counted, what came out, and where that is kept."""
