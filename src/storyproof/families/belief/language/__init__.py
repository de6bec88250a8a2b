"""Language packs: for each language a file of words and sentences, and a module with the grammar of its nouns."""
