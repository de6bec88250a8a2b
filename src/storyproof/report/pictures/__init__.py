"""Stories drawn as SVG: who believes what after each sentence, and who is whose kin.

Pictures are strings without colours of their own: a page puts `STYLE` into its style sheet, once, and a file of its own
is made by `standalone`. Whatever comes from data stands in them as text.
"""

from storyproof.report.pictures.belief_timeline import belief_timeline
from storyproof.report.pictures.family_tree import family_picture
from storyproof.report.pictures.stories import Picture, story_pictures
from storyproof.report.pictures.svg import STYLE, standalone

__all__ = ["STYLE", "Picture", "belief_timeline", "family_picture", "standalone", "story_pictures"]
