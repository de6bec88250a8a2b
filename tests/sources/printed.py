"""What the five documents print that storyproof starts from: stories, questions and answers, as typed there.

Line breaks that belong to the page are left out. Each entry says what comes of it: `answer` is ours. Where the document
prints another one, `printed` has it and `why` says who is wrong; where a text is refused, `refused` has a part of the
message, and `why` the reason for refusing it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A question about a story of a document.

    Attributes:
        source: The number of the document.
        place: Where it stands there.
        story: As typed there.
        question: As typed there.
        answer: What we say; empty if nothing follows.
        printed: What the document says, if it says something else; None if it says the same, or nothing.
        status: Of kinship, what the printed answer is by strict kinship.
        published: Of kinship, what the paper's rules give.
        refused: A part of the message with which it is refused.
        why: The reason, if it is refused or the document is wrong.
    """

    source: str
    place: str
    story: str
    question: str
    answer: str = ""
    printed: str | None = None
    status: str = ""
    published: str = ""
    refused: str = ""
    why: str = ""

    def __str__(self) -> str:
        return f"{self.source}-{self.place}-{self.question}".replace(" ", "_")


# Source 000, flaws of ToMi: two stories with labels that are wrong.
WRONG_TYPE = """- 1 Jayden entered the lounge.
- 2 Isla entered the lounge.
- 3 The cherry is in the pantry.
- 4 Isla exited the lounge.
- 5 Isla entered the hall.
- 6 Jayden moved the cherry to the treasure_chest."""
WRONG_NUMBER = """- 1 Logan entered the hallway.
- 2 James entered the hallway.
- 3 The jeans is in the bucket.
- 4 William entered the hallway.
- 5 Logan exited the hallway.
- 6 James moved the jeans to the basket."""
FLAWS = [
    Printed(
        "000",
        "agent number, with its question",
        f"{WRONG_NUMBER}\n\n7 Where will Logan look for the jeans?",
        "7 Where will Logan look for the jeans?",
        "bucket",
    ),
    Printed("000", "story type", WRONG_TYPE, "Where will Isla look for the cherry?", "pantry"),
    Printed("000", "story type", WRONG_TYPE, "Where will Jayden look for the cherry?", "treasure_chest"),
    Printed("000", "agent number", WRONG_NUMBER, "Where will Logan look for the jeans?", "bucket"),
]

# Source 001, an evaluation's README: the story of its command line.
OLIVER = "Oliver entered the room. The apple is in the basket. Oliver moved the apple to the drawer."
COMMANDS = [Printed("001", "test_example.py", OLIVER, "Where is the apple now?", "drawer")]

# Source 004, the ToMi paper. Its text has lost the line breaks of the story.
SALLY_ANNE = """Sally puts a marble in her basket
Sally leaves the room
Anne moves the marble in her box"""
MINDS = [
    Printed("004", "Sally-Anne", SALLY_ANNE, question, answer)
    for question, answer in (
        ("Where would Sally look for the marble ?", "basket"),
        ("Where will Sally look for the marble ?", "basket"),
        ("Where is the marble really ?", "box"),
        ("Where was the marble in the beginning ?", "basket"),
        # What it proposes to ask of every story, of agents A and B and object O.
        ("Where is the marble ?", "box"),
        ("Where will Anne look for the marble ?", "box"),
        ("Where does Sally believe Anne will look for the marble ?", "basket"),
        ("Where does Anne believe Sally will look for the marble ?", "basket"),
    )
]
MINDS.append(  # as the document prints it, without line breaks
    Printed(
        "004",
        "Sally-Anne in one line",
        SALLY_ANNE.replace("\n", " "),
        "Where would Sally look for the marble ?",
        "basket",
    )
)
LETTERS = "A entered the room. B entered the room. O is in the box. B left the room. A moved O to the bag."
MINDS += [
    Printed("004", "letters", LETTERS, question, answer)
    for question, answer in (
        ("Where is O ?", "bag"),
        ("Where was O in the beginning ?", "box"),
        ("Where will A look for O ?", "bag"),
        ("Where will B look for O ?", "box"),
        ("Where does A believe B will look for O ?", "box"),
        ("Where does B believe A will look for O ?", "box"),
    )
]
# The ice-cream van, with its structure in sentences of ours: the van is the object, the park and the church are where
# it can be, the vendor moves it and tells Mary on the way.
VAN = """Mary entered the village.
John entered the village.
Vendor entered the village.
The van is in the park in the village.
Mary exited the village.
Vendor moved the van to the church.
Vendor exited the village.
Mary entered the road.
Vendor entered the road.
Vendor told Mary in private that the van is in the church."""
MINDS += [
    Printed("004", "ice-cream van", VAN, question, answer)
    for question, answer in (
        ("Where does John think Mary will go to get the van ?", "park"),
        ("Where will Mary look for the van?", "church"),
        ("Where is the van really?", "church"),
        ("Where was the van in the beginning?", "park"),
    )
]

# Source 002, the appendix of CLUTRR. Tables 5 to 9, in their order.
PUZZLES = [
    Printed(
        "002",
        "table 5",
        "Charles’s son Christopher entered rehab for the ninth time at the age of thirty. Randolph had a nephew called "
        "Christopher who had n’t seen for a number of years.",
        "Randolph is the _____ of Charles",
        printed="brother",
        status="ambiguous",
        published="brother",
    ),
    Printed(
        "002",
        "table 5",
        "Randolph and his sister Sharon went to the park. Arthur went to the baseball game with his son Randolph",
        "Sharon is the _____ of Arthur",
        "daughter",
        status="entailed",
        published="daughter",
    ),
    Printed(
        "002",
        "table 5",
        "Frank went to the park with his father, Brett. Frank called his brother Boyd on the phone. He wanted to go "
        "out for some beers.",
        "Brett is the _____ of Boyd",
        "father",
        status="entailed",
        published="father",
    ),
    Printed(
        "002",
        "table 6",
        "Roger was playing baseball with his sons Sam and Leon. Sam had to take a break though because he needed to "
        "call his sister Robin.",
        "Leon is the _____ of Robin",
        "brother",
        status="entailed",
        published="brother",
    ),
    Printed(
        "002",
        "table 6",
        "Elvira and her daughter Nancy went shopping together last Monday and they bought new shoes for Elvira’s kids. "
        "Pedro and his sister Allison went to the fair. Pedro’s mother, Nancy, was out with friends for the day.",
        "Elvira is the _____ of Allison",
        "grandmother",
        status="entailed",
        published="grandmother",
    ),
    Printed(
        "002",
        "table 6",
        "Roger met up with his sister Nancy and her daughter Cynthia at the mall to go shopping together. Cynthia’s "
        "brother Pedro was going to be the star in the new show.",
        "Pedro is the _____ of Roger",
        "nephew",
        status="entailed",
        published="nephew",
    ),
    Printed(
        "002",
        "table 7",
        "Celina has been visiting her sister, Fran all week. Fran is also the daughter of Bethany. Ronald loves "
        "visiting his aunt Bethany over the weekends. Samuel’s son Ronald entered rehab for the ninth time at the age "
        "of thirty.",
        "Celina is the _____ of Samuel",
        printed="niece",
        status="ambiguous",
        published="niece",
    ),
    Printed(
        "002",
        "table 7",
        "Celina adores her daughter Bethany. Bethany loves her very much, too. Jackie called her mother Bethany to let "
        "her know she will be back home soon. Thomas was helping his daughter Fran with her homework at home. "
        "Afterwards, Fran and her sister Jackie played Xbox together.",
        "Celina is the _____ of Thomas",
        "mother-in-law",
        printed="daughter",
        status="contradicted",
        published="mother",
        why="a misprint: the mother of the mother of his daughters is not his daughter",
    ),
    Printed(
        "002",
        "table 7",
        "Raquel is Samuel ’daughter and they go shopping at least twice a week together. Kenneth and her mom, Theresa, "
        "had a big fight. Theresa’s son, Ronald, refused to get involved. Ronald was having an argument with her "
        "sister, Raquel.",
        "Samuel is the _____ of Kenneth",
        refused="not understood",
        why="'Samuel ’daughter' is a misprint; 'her' mom is not that of Kenneth, a man's name, and Ronald, a son, has "
        "'her' sister",
    ),
    Printed(
        "002",
        "table 8",
        "Steven’s son is Bradford. Bradford and his father always go fishing together on Sundays and have a great time "
        "together. Diane is taking her brother Brad out for a late dinner. Kristin, Brad’s mother, is home with a "
        "cold. Diane’s father Elmer, and his brother Steven, all got into the rental car to start the long "
        "cross-country roadtrip they had been planning.",
        "Bradford is the _____ of Kristin",
        printed="nephew",
        status="ambiguous",
        published="nephew",
    ),
    Printed(
        "002",
        "table 8",
        "Elmer went on a roadtrip with his youngest child, Brad. Lena and her sister Diane are going to a restaurant "
        "for lunch. Lena’s brother Brad is going to meet them there with his father Elmer Brad ca n’t stand his "
        "unfriendly aunt Lizzie.",
        "Lizzie is the _____ of Diane",
        "aunt",
        status="entailed",
        published="aunt",
    ),
    Printed(
        "002",
        "table 8",
        "Ira took his niece April fishing Saturday. They caught a couple small fish. Ronald was enjoying spending time "
        "with his parents, Damion and Claudine. Damion’s other son, Dennis, wanted to come visit too. Dennis often "
        "goes out for lunch with his sister, April.",
        "Ira is the _____ of Claudine",
        printed="brother",
        status="ambiguous",
        published="brother",
    ),
    Printed(
        "002",
        "table 9",
        "Mario wanted to get a good gift for his sister, Marianne. Jean and her sister Darlene were going to a party "
        "held by Jean’s mom, Marianne. Darlene invited her brother Roy to come, too, but he was too busy. Teri and her "
        "father, Mario, had an argument over the weekend. However, they made up by Monday. Agnes wants to make a "
        "special meal for her daughter Teri’s birthday.",
        "Roy is the _____ of Agnes",
        printed="nephew",
        status="ambiguous",
        published="nephew",
    ),
    Printed(
        "002",
        "table 9",
        "Robert’s aunt, Marianne, asked Robert to mow the lawn for her. Robert said he could n’t because he had a bad "
        "back. William’s parents, Brian and Marianne, threw him a surprise party for his birthday. Brian’s daughter "
        "Jean made a mental note to be out of town for her birthday! Agnes’s biggest accomplishment is raising her son "
        "Robert. Jean is looking for a good gift for her sister Darlene.",
        "Darlene is the _____ of Agnes",
        printed="niece",
        status="ambiguous",
        published="niece",
    ),
    Printed(
        "002",
        "table 9",
        "Sharon and her brother Mario went shopping. Teri, Mario’s daughter, came too. Agnes, Annie’s mother, is "
        "unhappy with Robert. She feels her son is cruel to Annie’s sister Teri, and she wants Robert to be nicer. "
        "Robert’s sister, Nicole, participated in the dance contest.",
        "Nicole is the _____ of Sharon",
        printed="niece",
        status="ambiguous",
        why="it is not said who 'her son' is; that it is Robert can only be guessed",
    ),
]
# Its tasks for crowd workers: facts to mention, and stories.
TASKS = [
    Printed(
        "002",
        "good example",
        "John is the proud father of the lovely Sylvia. Sylvia has a love-hate relationship with her brother Patrick.",
        "John is the _____ of Patrick",
        "father",
        status="entailed",
        published="father",
    ),
    Printed(
        "002",
        "facts",
        "John is the father of Sylvia. Sylvia has a brother Patrick.",
        "John is the _____ of Patrick",
        "father",
        status="entailed",
        published="father",
    ),
    Printed(
        "002",
        "bad example",
        "Vincent is married at Tim and his mother is Martha.",
        "Martha is the _____ of Vincent",
        refused="not understood",
        why="the document calls it ungrammatical: 'his' can be either",
    ),
    Printed(
        "002",
        "facts",
        "Vincent is the son of Tim. Martha is the wife of Tim.",
        "Martha is the _____ of Vincent",
        "mother",
        status="entailed",  # none of the paper's rules says what the wife of a parent is
    ),
    Printed(
        "002",
        "figure 3",
        "Benjamin is William's grandson. Beatrice is a sister of Benjamin.",
        "Beatrice is the _____ of William",
        "granddaughter",
        status="entailed",
        published="granddaughter",
    ),
    Printed(
        "002",
        "figure 3",
        "William bought the latest gaming console for his grandson Benjamin this Christmas. For Benjamin's sister, "
        "Beatrice, he got a bestseller novel.",
        "Beatrice is the _____ of William",
        "granddaughter",
        status="entailed",
        published="granddaughter",
    ),
    Printed(
        "002",
        "figure 3, good example",
        "John is the proud father of the lovely Sylvia. Sylvia has a love-hate relationship with his brother Patrick.",
        "John is the _____ of Patrick",
        printed="father",
        refused="not understood",
        why="a misprint of 'her brother': 'his' brother can only be John's, and then Patrick is no son of his",
    ),
    Printed(
        "002",
        "good example, implied fact",
        "John is the father of Patrick.",
        "John is the _____ of Patrick",
        "father",
        status="entailed",
        published="father",
    ),
    Printed(
        "002",
        "bad example, implied fact",
        "Martha is Vincent’s mother.",
        "Martha is the _____ of Vincent",
        "mother",
        status="entailed",
        published="mother",
    ),
    Printed(
        "002",
        "figure 3, hidden fact",
        "William has a granddaughter who is Beatrice.",
        "Beatrice is the _____ of William",
        "granddaughter",
        status="entailed",
        published="granddaughter",
    ),
    Printed(
        "002",
        "figure 3, hidden fact",
        "Isabel has a sister named Donna.",
        "Donna is the _____ of Isabel",
        "sister",
        status="entailed",
        published="sister",
    ),
    Printed(
        "002",
        "figure 3",
        "Laura has a sister named Donna. Isabel has a sister named Laura.",
        "Donna is the _____ of Isabel",
        "sister",
        status="entailed",
        published="sister",
    ),
    Printed(
        "002",
        "figure 3",
        "Laura was excited to attend the graduationof her sister Donna. Donna was flying in from Montreal with her "
        "other sister Isabel.",
        "Isabel is the _____ of Laura",
        "sister",
        status="entailed",
        published="sister",
    ),
]
KINSHIP = [*PUZZLES, *TASKS]

# The appendix's rules, [relation, X, Y] in the order of the page; signs that were scanned wrongly are mended: "[S0" and
# "(50,2" are SO. Its predicates say what Y is to X, and "inv-un" is an uncle or an aunt.
RULES = """[grand, X, Y] [[child, X, Z], [child, Z, Y]]
[grand, X, Y] [[SO, X, Z], [grand, Z, Y]]
[grand, X, Y] [[grand, X, Z], [sibling, Z, Y]]
[inv-grand, X, Y] [[inv-child, X, Z], [inv-child, Z, Y]]
[inv-grand, X, Y] [[sibling, X, Z], [inv-grand, Z, Y]]
[child, X, Y] [[child, X, Z], [sibling, Z, Y]]
[child, X, Y] [[SO, X, Z], [child, Z, Y]]
[inv-child, X, Y] [[sibling, X, Z], [inv-child, Z, Y]]
[inv-child, X, Y] [[child, X, Z], [inv-grand, Z, Y]]
[sibling, X, Y] [[child, X, Z], [inv-un, Z, Y]]
[sibling, X, Y] [[inv-child, X, Z], [child, Z, Y]]
[sibling, X, Y] [[sibling, X, Z], [sibling, Z, Y]]
[in-law, X, Y] [[child, X, Z], [SO, Z, Y]]
[inv-in-law, X, Y] [[SO, X, Z], [inv-child, Z, Y]]
[un, X, Y] [[sibling, X, Z], [child, Z, Y]]
[inv-un, X, Y] [[inv-child, X, Z], [sibling, Z, Y]]"""
RELATIONS = (
    "son, father, husband, brother, grandson, grandfather, son-in-law, father-in-law, brother-in-law, uncle, nephew, "
    "daughter, mother, wife, sister, granddaughter, grandmother, daughter-in-law, mother-in-law, sister-in-law, aunt, "
    "niece"
)
