"""Stories by hand that show what random stories rarely show, with a belief that comes out differently than one thinks.

Each is (what it shows, story, chain, reading, where the chain believes the key to be).
"""

from __future__ import annotations

from storyproof.families.belief.story import Story
from storyproof.families.belief.world import EventKind, PlotEvent


def _together(*people: str) -> Story:
    story = Story()
    for agent in people:
        story.enter(agent, "attic")
    return story.place("key", "jar", "attic")


def _watched_move() -> Story:
    """Bo leaves and secretly watches from the barn how Ada moves the key and leaves."""
    story = _together("Ada", "Bo").exit("Bo").enter("Bo", "barn").peek("Bo", "attic").move("Ada", "key", "pot")
    return story.exit("Ada").stop_peeking("Bo").enter("Ada", "barn")


def _overheard() -> Story:
    """Cy overhears from the yard what Ada tells Bo."""
    story = _together("Ada").exit("Ada").enter("Ada", "barn").enter("Bo", "barn")
    return story.enter("Cy", "yard").peek("Cy", "barn").lie("Ada", "key", "pot")


def _distracted_leaver() -> tuple[PlotEvent, ...]:
    """Ada leaves while distracted, which cannot happen, and so does not notice that Bo stays with the key."""
    story = _together("Ada", "Bo").events
    leaves = (PlotEvent(EventKind.DISTRACT, "Ada"), PlotEvent(EventKind.EXIT, "Ada", "attic"))
    meets = (PlotEvent(EventKind.ATTEND, "Ada"), PlotEvent(EventKind.EXIT, "Bo", "attic"))
    there = (PlotEvent(EventKind.ENTER, "Ada", "barn"), PlotEvent(EventKind.ENTER, "Bo", "barn"))
    return *story, *leaves, *meets, *there, PlotEvent(EventKind.WHISPER, "Ada", None, "key", "pot", "Bo", lie=True)


SURPRISES = [
    (
        "a secret observer knows that it saw the key later than the liar",
        _watched_move().lie("Ada", "key", "jar", to="Bo").events,
        ("Bo",),
        "open+fresher",
        "pot",
    ),
    ("who overhears learns too", _overheard().events, ("Cy",), "open+always", "pot"),
    ("nobody knows who overhears", _overheard().events, ("Bo", "Cy"), "open+always", None),
    ("who overhears knows what the hearers think", _overheard().events, ("Cy", "Bo"), "open+always", "pot"),
    (
        "who is distracted overhears nothing in the room that it watches",
        _together("Ada", "Bo").enter("Cy", "barn").peek("Cy", "attic").distract("Cy").exit("Bo").enter("Bo", "attic")
        .lie("Ada", "key", "pot").events,
        ("Cy",),
        "closed+always",
        None,
    ),
    (
        "a whisper is not overheard",
        _together("Ada").exit("Ada").enter("Ada", "barn").enter("Bo", "barn").enter("Cy", "yard").peek("Cy", "barn")
        .lie("Ada", "key", "pot", to="Bo").events,
        ("Cy",),
        "open+always",
        None,
    ),
    (
        "who was distracted when it left does not know who stayed, and so not who distrusts it",
        _distracted_leaver(),
        ("Ada", "Bo"),
        "open+fresher",
        "pot",
    ),
    (
        "who stayed knows that the leaver does not know",
        _distracted_leaver(),
        ("Bo",),
        "open+fresher",
        "jar",
    ),
    (
        "who leaves knows who stays, whoever else is distracted",
        _together("Ada", "Bo", "Cy").distract("Bo").exit("Ada").exit("Cy").enter("Ada", "barn").enter("Cy", "barn")
        .lie("Ada", "key", "pot", to="Cy").events,
        ("Ada", "Cy"),
        "open+fresher",
        "jar",
    ),
    (
        "who enters the room that it is in, which cannot happen, returns from nowhere and blames nobody",
        (
            *_together("Ada", "Bo").exit("Ada").exit("Bo").enter("Ada", "attic").distract("Ada").enter("Cy", "attic")
            .move("Cy", "key", "pot").events,
            PlotEvent(EventKind.ENTER, "Ada", "attic"),
        ),
        ("Ada", "Bo"),
        "infer-mover+always",
        "jar",
    ),
    (
        "watching ends only by the sentence that says so, also if its watcher leaves, which cannot happen",
        (
            *_together("Ada").enter("Bo", "barn").peek("Bo", "attic").events,
            PlotEvent(EventKind.EXIT, "Bo", "barn"),
            PlotEvent(EventKind.MOVE, "Ada", "attic", "key", "pot"),
        ),
        ("Bo",),
        "open+always",
        "pot",
    ),
    (
        "distraction ends only by the sentence that says so, also if the distracted walk, which cannot happen",
        (
            *_together("Ada", "Bo").distract("Bo").move("Ada", "key", "pot").events,
            PlotEvent(EventKind.EXIT, "Bo", "attic"),
            PlotEvent(EventKind.ENTER, "Bo", "attic"),
        ),
        ("Bo",),
        "open+always",
        "jar",
    ),
    (
        "who never knew where the key was cannot find it moved",
        Story().enter("Ada", "attic").enter("Bo", "attic").exit("Ada").place("key", "jar").exit("Bo")
        .enter("Ada", "attic").events,
        ("Ada", "Bo"),
        "infer-mover+always",
        None,
    ),
    (
        "who was told finds nothing moved, and blames nobody",
        _together("Ada", "Bo", "Cy").exit("Ada").move("Bo", "key", "pot").exit("Bo").exit("Cy").enter("Ada", "barn")
        .enter("Cy", "barn").tell("Cy", "key", "pot", to="Ada").exit("Ada").enter("Ada", "attic").events,
        ("Ada", "Bo"),
        "infer-mover+always",
        "jar",
    ),
    (
        "who was lied to finds the key where it has always been, and concludes that the other knows",
        _together("Ada", "Bo", "Cy").exit("Ada").exit("Bo").exit("Cy").enter("Ada", "barn").enter("Cy", "barn")
        .lie("Cy", "key", "pot", to="Ada").exit("Ada").enter("Ada", "attic").events,
        ("Ada", "Bo"),
        "infer-mover+always",
        "jar",
    ),
    (
        "who was lied to about a key that they had never seen finds it, and concludes that the other knows",
        Story().enter("Ada", "attic").enter("Bo", "attic").enter("Cy", "attic").exit("Ada").place("key", "jar", "attic")
        .exit("Bo").exit("Cy").enter("Ada", "barn").enter("Cy", "barn").lie("Cy", "key", "pot", to="Ada").exit("Ada")
        .enter("Ada", "attic").events,
        ("Ada", "Bo"),
        "infer-mover+always",
        "jar",
    ),
    (
        "a liar who is caught in sight of the key is caught by all who look on",
        _together("Ada", "Bo", "Cy").lie("Ada", "key", "pot").exit("Ada").move("Bo", "key", "tin").exit("Bo")
        .enter("Ada", "barn").enter("Bo", "barn").lie("Ada", "key", "pot").events,
        ("Cy", "Bo"),
        "open+never-liars",
        "tin",
    ),
    (
        "who lied in sight of the key is not believed later",
        _together("Ada", "Bo").lie("Ada", "key", "pot").exit("Bo").move("Ada", "key", "pot").exit("Ada")
        .enter("Ada", "barn").enter("Bo", "barn").tell("Ada", "key", "pot").events,
        ("Bo",),
        "open+never-liars",
        "jar",
    ),
    (
        "who is distracted finds nothing moved when they return, which cannot happen, and blames nobody",
        (
            *_together("Ada", "Bo").exit("Ada").move("Bo", "key", "pot").exit("Bo").events,
            PlotEvent(EventKind.DISTRACT, "Ada"),
            PlotEvent(EventKind.ENTER, "Ada", "attic"),
        ),
        ("Ada", "Bo"),
        "infer-mover+always",
        "jar",
    ),
    (
        "nobody is blamed who left first",
        _together("Ada", "Bo").exit("Bo").exit("Ada").enter("Cy", "attic").move("Cy", "key", "pot").exit("Cy")
        .enter("Ada", "attic").events,
        ("Ada", "Bo"),
        "infer-mover+always",
        "jar",
    ),
    (
        "who finds the key moved trusts their conclusion more than what both were told before",
        _together("Ada", "Bo").exit("Ada").move("Bo", "key", "pot").exit("Bo").enter("Bo", "yard").enter("Ada", "barn")
        .enter("Cy", "hut").announce_lie("Cy", "key", "tin").exit("Ada").enter("Ada", "attic").events,
        ("Ada", "Bo"),
        "infer-mover+fresher",
        "pot",
    ),
    (
        "what a known liar is told, it believes",
        _together("Ada", "Bo").exit("Ada").exit("Bo").enter("Ada", "barn").enter("Bo", "barn")
        .lie("Ada", "key", "pot").exit("Bo").enter("Bo", "attic").move("Bo", "key", "tin").exit("Bo")
        .enter("Bo", "barn").tell("Bo", "key", "tin").events,
        ("Ada",),
        "open+never-liars",
        "tin",
    ),
    (
        "an announcement does not reach the distracted",
        _together("Ada").enter("Bo", "barn").distract("Bo").noise().announce("Ada", "key", "jar").attend("Bo").events,
        ("Bo",),
        "open+always",
        None,
    ),
    (
        "an announcement reaches all rooms",
        _together("Ada").enter("Bo", "barn").announce("Ada", "key", "jar").events,
        ("Bo", "Ada"),
        "closed+always",
        "jar",
    ),
    (
        "an announcement does not reach those who are in no room",
        _together("Ada").enter("Bo", "barn").exit("Bo").announce("Ada", "key", "jar").enter("Bo", "barn").events,
        ("Bo",),
        "open+always",
        None,
    ),
    (
        "an announcement from no room, which cannot happen, reaches nobody",
        (
            *_together("Ada").enter("Bo", "barn").exit("Ada").events,
            PlotEvent(EventKind.ANNOUNCE, "Ada", None, "key", "jar"),
        ),
        ("Bo",),
        "open+always",
        None,
    ),
    (
        "with closed containers words are believed even in sight of the container",
        _together("Ada", "Bo").lie("Ada", "key", "pot", to="Bo").events,
        ("Bo",),
        "closed+always",
        "pot",
    ),
]  # fmt: skip
