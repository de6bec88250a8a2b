"""plain."""
class PlainPlots:
    def __init__(self, *a): pass
