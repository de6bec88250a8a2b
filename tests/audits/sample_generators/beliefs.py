"""Stories of who sees an object being moved, with first- and second-order questions."""

import random

NAMES = ("Ann", "Ben", "Cal", "Dan", "Eve")
ROOMS = ("den", "attic")
CONTAINERS = {"den": ("box", "jar", "pot"), "attic": ("bag", "tin", "urn")}


def answer(story: str, question: str) -> str | None:
    """Return where the object was when all whom the question goes through last saw it; None if they never did."""
    asked = question.rstrip("?").split()
    chain = [word for word in asked if word in NAMES]
    room_of: dict[str, str] = {}
    rooms: dict[str, str] = {}
    place = first = seen = None
    for sentence in story.split("\n"):
        words = sentence.rstrip(".").split()
        if words[1] == "entered":
            rooms[words[0]] = words[-1]
        elif words[1] == "exited":
            del rooms[words[0]]
        elif words[1] == "moved":
            place = words[-1]
        elif words[1] == "key":
            place = first = words[-1]
        elif words[0] == "The":
            room_of[words[1]] = words[-1]
        if place in room_of and all(rooms.get(each) == room_of[place] for each in chain):
            seen = place
    if asked[-1] == "beginning":
        return first
    return seen if chain else place


def sample(seed: int, people: int = 3, moves: int = 3) -> tuple[str, str, str]:
    """Draw a story, a question and its answer."""
    draw = random.Random(seed)
    names = draw.sample(NAMES, people)
    room, other = draw.sample(ROOMS, len(ROOMS))
    rooms = {name: room if draw.random() < 0.8 else other for name in names}
    lines = [f"{name} entered the {rooms[name]}." for name in names]
    place = draw.choice(CONTAINERS[room])
    lines += [f"The key is in the {place}."]
    lines += [f"The {each} is in the {room}." for each in CONTAINERS[room]]
    for _ in range(moves):
        name = draw.choice(names)
        if name not in rooms:
            rooms[name] = room
            lines.append(f"{name} entered the {room}.")
        elif rooms[name] == room and draw.random() < 0.5:
            place = draw.choice([each for each in CONTAINERS[room] if each != place])
            lines.append(f"{name} moved the key to the {place}.")
        else:
            lines.append(f"{name} exited the {rooms.pop(name)}.")
    first, second = draw.sample(names, 2)
    forms = (
        f"Where will {first} look for the key?",
        f"Where does {first} think that {second} searches for the key?",
        "Where is the key really?",
        "Where was the key at the beginning?",
    )
    story = "\n".join(lines)
    asked = [(question, found) for question in forms if (found := answer(story, question)) is not None]
    question, found = draw.choice(asked)
    return story, question, found


sample.answer = answer  # type: ignore[attr-defined]
