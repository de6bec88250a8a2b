"""First names that are other words too: names in the places of names are names."""

import pytest

import storyproof
from storyproof.errors import StoryproofError
from storyproof.families.kinship.language.names import genders_of_names
from storyproof.families.kinship.language.reader import NotUnderstood, read
from tests.groups import only_first

COMMON = """
    Aaron Abbott Abigail Adam Alan Albert Alexander Alexis Alice Amanda Amber Amethyst Amity Amy Andrea Andrew
    Angel Angela Ann Anna Anthony April Archer Art Arthur Ash Ashley Asia Austin Autumn Baker Barbara Barry
    Basil Beau Benjamin Beryl Betty Beverly Bill Billy Bishop Bob Bobby Bradley Brandon Brenda Brian Brittany
    Brook Brooke Brooklyn Bruce Bryan Buck Bud Buddy Buster Butch Caleb Carl Carly Carol Carolina Carolyn
    Carrie Carter Catherine Chance Charity Charles Charlotte Chase Chelsea Cherry Cheryl China Chip Christian
    Christina Christine Christopher Chuck Clay Cliff Constance Cooper Coral Crystal Curt Cynthia Daisy Dakota
    Dallas Daniel Danielle David Dawn Dean Deborah Debra Denise Dennis Destiny Diana Diane Dick Dolly Donald
    Donna Doris Dorothy Douglas Drew Duke Dusty Dylan Earl Ebony Edward Elijah Elizabeth Emerald Emily Emma
    Eric Ernest Ethan Eve Evelyn Faith Felicity Fisher Florence Ford Forest Frances Frank Gabriel Garnet Gary
    Gay Gene George Georgia Gerald Gerry Ginger Glen Gloria Grace Grant Gregory Guy Hannah Happy Hardy Harmony
    Harold Harper Harry Hazel Heath Heather Heaven Helen Henry Holly Honor Honour Hope Hunter India Iris
    Isabella Israel Ivory Ivy Jack Jacob Jacqueline Jade James Janet Janice Jasmine Jason Jay Jean Jeffrey
    Jennifer Jeremy Jerry Jesse Jessica Joan Joe John Jonathan Jordan Jose Joseph Joshua Joy Joyce Juan Judge
    Judith Judy Julia Julie June Justice Justin Karen Katherine Kathleen Kathryn Kayla Keith Kelly Kenneth
    Kent Kerry Kevin Kimberly Kingsley Kyle Lance Lane Lark Larry Laura Lauren Lawrence Liam Liberty Lily
    Linda Lisa Logan London Lori Lucas Luna Madison Major Margaret Maria Marilyn Mark Marshall Martha Mary
    Mason Matthew Max May Megan Melissa Melody Mercy Merry Michael Michelle Miles Misty Molly Nancy Natalie
    Nathan Nelly Nicholas Nick Nicole Noah Noel Olive Olivia Opal Page Paige Pamela Paris Parker Pat Patience
    Patricia Patrick Paul Pearl Penny Perry Peter Phoenix Pierce Piper Polly Pope Poppy Porter Prudence
    Queenie Rachel Rain Randy Ray Raymond Rebecca Reed Rich Richard River Rob Robert Robin Rocky Rod Roger
    Ronald Rose Rosemary Rowan Roy Royal Ruby Russell Rusty Ruth Ryan Sage Sally Samantha Samuel Sandra Sandy
    Sara Sarah Savannah Scarlett Scott Sean Serenity Sergeant Sharon Shelly Sheriff Sherry Shirley Sierra Sky
    Skye Smith Sonny Sophia Star Stella Stephanie Stephen Sterling Steven Storm Stormy Sue Summer Sunny Susan
    Sydney Taylor Temperance Teresa Terry Theresa Thomas Tiffany Timothy Trinity Turner Tyler Unity Verity
    Victor Victoria Vincent Violet Virginia Wade Walter Wayne Weaver Wiley Will William Willie Wily Winter
    Wren Zachary
""".split()  # noqa: SIM905
# A text with the name of a woman, a question, and the answer.
FRAMES = [
    ("{0} is Ada's sister.", "What is {0} to Ada?", "sister"),
    ("Ada has a sister called {0}.", "What is {0} to Ada?", "sister"),
    ("Ada's sister {0} swam in the lake. {0} is Ben's mother.", "What is {0} to Ben?", "mother"),
    ("[{0}] is [Ada]'s sister. [Ada] is [Ben]'s mother.", "What is {0} to Ben?", "aunt"),
    ("{0} and her sister Ada went to the park.", "What is Ada to {0}?", "sister"),
    ("Ben went to the park with his sister {0}.", "What is {0} to Ben?", "sister"),
]


def fails(name: str) -> list[str]:
    """Return what is not read with a name, or read wrongly."""
    found = []
    for text, question, answer in FRAMES:
        try:
            said = storyproof.story(text.format(name)).ask(question.format(name)).answer
        except StoryproofError as error:
            said = str(error)
        if said != answer:
            found.append(f"{text.format(name)} {said}")
    return found


def test_there_are_many() -> None:
    assert len(set(COMMON)) > 380
    assert {"Emily", "Lily", "Mason", "Rain", "Winter", "Hope", "Mark"} <= set(COMMON)


@pytest.mark.parametrize("part", only_first(1, range(2)))
def test_common_first_names_are_read_in_the_places_of_names(part: int) -> None:
    assert [problem for name in COMMON[part::2] for problem in fails(name)] == []


@pytest.mark.parametrize("part", only_first(3, range(5)))
def test_our_names_are_read_in_the_places_of_names(part: int) -> None:
    women = sorted(name for name, gender in genders_of_names().items() if gender == "female")
    assert [problem for name in women[part::25] for problem in fails(name)] == []


@pytest.mark.slow
def test_all_our_names_are_read_in_the_places_of_names() -> None:
    women = sorted(name for name, gender in genders_of_names().items() if gender == "female")
    assert [problem for name in women for problem in fails(name)] == []


@pytest.mark.parametrize(
    "text",
    [
        "Winter is hard for Ada's sister.",
        "Hope is all that Ada's sister has.",
        "The hunter is Ada's brother.",
        "The Mason is Ada's brother.",
        "April is the month in which Ada's sister swims.",
        "Early is how Ada's sister rises.",
    ],
)
def test_words_elsewhere_are_no_names(text: str) -> None:
    try:
        people = read(text).people
    except NotUnderstood:
        return
    assert people <= {"Ada"}
