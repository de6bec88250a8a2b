"""What is wrong with data.

The verb is the module `audit`: one pass over the rows (`row_pass`), with corrected copies (`fixes`). Beside it stand
duplicates (`duplicates`), shortcuts (`shortcuts`) and variety of text (`language`).
"""
