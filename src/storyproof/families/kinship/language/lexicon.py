"""The words that the reader of kinship stories knows, each with the class by which its grammar sees it.

A class is one character, so that a sentence is a short string of classes and constructions are patterns on it. Words of
open classes that are not listed are OTHER: things, deeds, places, qualities. They are never asked what they mean, so a
word belongs here if it can change what a sentence says about who is related to whom.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from storyproof.families.kinship.relations import WORDS, gender_of, predicate_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# People and kin.
NAME = "N"
PROPER = "P"  # another capitalised word: a place, a brand
CAPITAL = "C"  # a capitalised word, before it is decided which of the two it is
KIN, KINS = "K", "L"  # niece, nieces
OTHER_KIN = "Z"  # kin words that state none of the relations: cousin, stepson, child, twins
MODIFIER = "M"  # proud: says more about a relative without touching the relation
OLD = "@"  # old, young: a modifier, or part of an age
ELDER = "["  # a modifier that compares ages
TWIN = "\\"  # a modifier of brothers and sisters, or another kin word
OWN = "O"  # a modifier, or "her own hair", which is the subject's
PERSON, MAN, WOMAN, MEN = "u", "1", "0", "U"  # people without a name
JOB = "j"  # a person after an article (the cook), a deed otherwise
BEAST = ">"  # a dog, a puppet, a boat: something else that can have a name
UNREAL = "^"  # late, former, lost: a person who follows is unreal or past
UNTRUSTED = "!"  # impostor, exist, sentence: about the text or about who is real, never understood
# Pronouns and other words of grammar.
HIS, HER, HERS, HE, SHE, HIM, HIMSELF, HERSELF = "h", "r", "H", "e", "s", "m", "g", "G"
THEIR, THEY, SPEAKER, IT = "t", "y", "F", "5"
POSSESSIVE = "'"
AND, OR, BUT = "&", "|", "b"
IS, ARE, WAS, HAS, HAD, BE = "i", "a", "v", "x", "X", "B"
CALLED, NAME_WORD = "c", "k"
THAT, WHO, WHOSE, WHOM = "T", "W", "S", "Y"
NOT, NOBODY, IF, WHEN, WHILE, AS, LIKE, SO, TOO = "z", "]", "I", "J", "~", "A", "l", "Q", "`"
OF, A, THE, TO, IN, PREPOSITION, NUMBER = "o", "d", "D", "2", "<", "p", "n"
# Verbs by what follows them.
FACTIVE = "f"  # noticed that: true
SPEECH = "V"  # told somebody that
GIVING = "q"  # gave somebody something
BELIEF, SAID = "R", "E"  # thought, said: what follows need not be true
# Words that matter to the story as a whole.
HARD = "%"  # what the reader does not reason about: death, marriage as an event, birth, ages
UNTRUE, FICTION = "7", "3"  # a joke; a play
ASLEEP, SAME, ALWAYS, ALL, DAY, CLOCK = "8", "4", "+", "*", "$", "/"
TURNED, FIRST = "6", "9"  # turned sixty; was the first to
THING = "="  # "a picture of Freya, who is his niece", "fond of Freya": what stands before "of" is nobody
# Everything else.
OTHER = "w"
QUOTE = '"'
UNKNOWN_MARK = "#"

# Classes that say nothing once the checks of whole stories are done.
NEUTRAL = OTHER + OF + A + THE + TO + IN + PREPOSITION + NUMBER + FACTIVE + SPEECH + GIVING + UNREAL

_INFORMAL = {
    "mum": "mother", "mom": "mother", "dad": "father", "grandma": "grandmother", "granny": "grandmother",
    "grandpa": "grandfather", "granddad": "grandfather", "grandad": "grandfather", "auntie": "aunt",
}  # fmt: skip

_LISTS = {
    OTHER_KIN: """
        child children kid kids parent parents grandparent grandparents grandchild grandchildren grandkid grandkids
        sibling siblings twins triplet triplets cousin cousins relative relatives relation relations related unrelated
        kin kinsman kinswoman kinsmen kindred family families spouse spouses ancestor ancestors descendant descendants
        heir heirs heiress offspring orphan orphans in-law in-laws partner partners nan nana gran nanny sis bro daddy
        mummy mommy papa mama hubby godparent godparents stepfamily forefather forefathers forebear forebears
        next-of-kin firstborn namesake bastard
        """,
    MODIFIER: """
        big dear beloved favourite favorite proud cheerful patient quiet shy brave clever tall short kind
        gentle generous busy tired sleepy lively merry funny nervous curious careful strong sporty musical
        talkative hungry thirsty smiling laughing hard-working good-natured
        """,
    OLD: "old young little",
    ELDER: "elder older younger eldest oldest youngest",
    OWN: "own",
    UNTRUSTED: """
        impostor imposter impostors doppelganger doppelgänger lookalike look-alike clone clones exist exists existed
        existing existence nonexistent non-existent figment mirage hallucination made-up pseudonym pseudonyms incognito
        changeling sentences paragraph paragraphs statement statements erratum misprint typo disregard
        retract retracts retracted retraction disown disowns disowned disinherited hypothetical hypothetically
        counterfactual sic ahem oops
        """,
    TWIN: "twin",
    HIS: "his",
    HER: "her",
    HERS: "hers",
    HE: "he",
    SHE: "she",
    HIM: "him",
    HIMSELF: "himself",
    HERSELF: "herself",
    THEIR: "their",
    THEY: "they them theirs themselves",
    SPEAKER: "i me my mine myself we us our ours ourselves you your yours yourself yourselves",
    AND: "and",
    OR: "or either",
    BUT: "but",
    IS: "is",
    ARE: "are",
    WAS: "was were",
    HAS: "has",
    HAD: "had have having",
    BE: "be been being am become becomes became becoming",
    CALLED: "called named",
    THAT: "that",
    WHO: "who",
    WHOSE: "whose",
    WHOM: "whom",
    NOT: "not never no nor neither hardly scarcely barely rarely",
    IF: "if whether unless supposing provided otherwise lest",
    WHEN: """
        when after before because since although though until till once whenever where wherever
        """,
    WHILE: "while whilst whereas",
    AS: "as",
    LIKE: "like unlike",
    OF: "of",
    A: "a an",
    THE: "the this these those",
    TO: "to",
    IN: "in inside outside",
    PREPOSITION: """
        about above across against along alongside amid among amongst around at behind below beneath beside besides
        between beyond by despite down during except for from into near off on onto opposite out over past round
        through throughout toward towards under underneath up upon with within without
        """,
    NUMBER: """
        zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
        """,
    # Verbs after which "that" introduces something true.
    FACTIVE: """
        notice noticed notices noticing see saw sees seeing seen know knew knows knowing known realise realised
        realises realize realized realizes discover discovered discovers find found finds remember remembered
        remembers forget forgot forgets forgotten regret regretted regrets observe observed observes recognise
        recognised recognises glad sorry happy pleased delighted annoyed surprised
        """,
    SPEECH: "tell told tells telling assure assured assures inform informed informs convince convinced convinces",
    GIVING: """
        give gave gives giving given lend lent lends lending bring brought brings bringing buy bought buys buying send
        sent sends sending offer offered offers offering hand handed hands handing pass passed passes passing pour
        poured pours pouring fetch fetched fetches fetching bake baked bakes baking cook cooked cooks cooking serve
        served serves serving sell sold sells selling show showed shows showing shown teach taught teaches teaching
        order ordered orders promise promised promises make made makes making get got gets
        """,
    BELIEF: """
        dream dreams dreamed dreamt dreaming imagine imagines imagined imagining pretend pretends pretended pretending
        believe believes believed believing think thinks thought thinking suppose supposes supposed presume presumes
        presumed assume assumes assumed assuming suspect suspects suspected claim claims claimed claiming allege
        alleges alleged deny denies denied denying doubt doubts doubted wish wishes wished wishing hope hopes hoped
        hoping fantasise fantasised fantasises hallucinate hallucinated lied swear swears swore sworn insist insists
        insisted mistake mistakes mistook mistaken consider considers considered regard regards regarded fancied
        according rumour rumours rumoured reputed fear feared fears argues maintains maintained allegedly supposedly
        reportedly purportedly purported ostensibly presumably apparently seemingly nominally theoretically
        """,
    SAID: "say says said saying reply replied replies",
    PERSON: """
        friend neighbour neighbor guest visitor stranger colleague teacher doctor vicar driver waiter waitress baker
        butcher postman postwoman policeman policewoman plumber carpenter farmer fisherman gardener painter singer
        dancer actor actress poet writer author lawyer dentist surgeon nurse nun priest monk bishop mayor king queen
        prince princess captain sailor soldier officer sergeant pilot librarian shopkeeper shepherd conductor
        stationmaster ticket-collector firefighter fireman lifeguard photographer musician drummer pianist violinist
        tailor cobbler blacksmith mechanic engineer scientist student pupil schoolmate classmate teammate roommate
        housemate flatmate lodger landlord landlady tenant boss employer employee assistant secretary apprentice
        customer passenger tourist hiker rider cyclist runner swimmer player winner champion somebody someone anybody
        anyone newcomer villager companion acquaintance enemy rival thief ferryman boatman milkman accountant acrobat
        ambassador angler announcer archer architect artist astronaut athlete banker barber barman barmaid bartender
        beekeeper beggar bellboy boatswain bookkeeper bookseller bouncer bowler brewer bricklayer builder burglar
        butler buyer cabbie caretaker cashier caterer chauffeur chemist child-minder chiropractor climber clown
        collector comedian commander commuter composer concierge constable contestant contractor cop councillor courier
        cowboy craftsman creator critic curator dealer decorator deputy  director diver docker doorman editor
        electrician emperor explorer fiddler filmmaker fishmonger florist forester foreman genius goalkeeper governor
        grocer guitarist gunner hairdresser handyman headmaster headmistress helper  hero heroine historian
        hunter illustrator innkeeper inspector instructor interpreter inventor jailer janitor jeweller joiner
        journalist juggler keeper knight labourer leader lecturer locksmith logger magician manager mason mayoress
        medic member merchant messenger midwife miller miner minister mountaineer narrator navigator nomad novelist
        onlooker opponent optician orator organiser organist outlaw owner pastor patient peasant pedestrian pedlar
        performer pharmacist pioneer piper pirate poacher politician porter preacher president prisoner professor
        programmer promoter psychologist publican publisher puppeteer ranger receptionist reporter researcher resident
        restorer reviewer ringmaster robber rower sculptor seamstress seller senator servant sheriff shopper signalman
        skater skier skipper smith smuggler solicitor specialist spectator steward stewardess stoker storyteller
        supervisor supplier surveyor  taxman technician teller therapist tightrope-walker trader trainee trainer
        traveller treasurer troubadour tutor vendor vet veteran veterinarian victim viking viscount volunteer wanderer
        warden warder watchman watchmaker weaver welder wizard witch worker workman wrestler youngster youth zookeeper
        """,
    MAN: "man gentleman boy lad bloke chap fellow lord widower",
    WOMAN: "woman lady girl lass madam",
    MEN: "men gentlemen boys lads women ladies girls",
    JOB: "cook guide judge guard coach clerk maid chef host hostess referee umpire",
    HARD: """
        die dies died dying dead death deaths deceased kill kills killed murder murdered perished grave graves
        graveside gravestone tomb tombstone cemetery graveyard funeral funerals burial widow widows widowed mourn
        mourns mourned mourning bereaved posthumous posthumously inherit inherited inherits obituary late-lamented
        marry marries married marrying marriage marriages wed weds wedded wedding weddings bride brides bridegroom
        groom grooms fiance fiancee fiancé fiancée engaged engagement betrothed honeymoon newlywed newlyweds remarried
        remarry elope eloped divorce divorces divorced divorcing divorcee annul annulled annulment estranged ex
        unmarried bachelor spinster mistress girlfriend boyfriend lover lovers propose proposed anniversary adopt
        adopts adopted adopting adoption adoptive foster fostered fostering surrogate custody visitation alimony
        guardian guardians ward biological biologically genetic genetically dna bloodline stepped-in born unborn birth
        births christening christened baptism baptised baby babies infant infants toddler toddlers
        newborn pregnant pregnancy teenager teenagers teenage adolescent aged pensioner pensioners schoolboy
        schoolboys schoolgirl schoolgirls nursery kindergarten cradle pram centenarian octogenarian weekends kidding
        nicknamed alias mr mrs ms miss dr sir saint prof coffin coffins hearse undertaker condolences
        ghost ghosts orphaned widowhood separation breakup jilted nappy nappies diaper diapers creche crèche
        daycare preschool playschool blood
        """,
    UNREAL: """
        late former imaginary fictional fictitious so-called would-be self-styled invented lost outlived survived
        misses missed left leave leaves leaving played plays playing portrayed portrays portraying call calls calling
        impersonated impersonates impersonating
        """,
    IT: "it this",
    UNTRUE: """
        true untrue false lie lies joke jokes mistake rumour rumours fiction nonsense invention gossip dream pretence
        trick prank wrong hoax make-believe role part act fib bluff guess error sure certain proved proven confirmed
        unsure uncertain unclear doubtful questionable unproven unconfirmed disputed
        """,
    FICTION: """
        play film movie novel story tale legend script opera pantomime cartoon musical fantasy game comedy book
        tragedy drama myth fairytale
        """,
    ASLEEP: "asleep sleep slept sleeps unconscious hospital prison jail abroad absent overseas",
    FIRST: "first last next",
    TURNED: "turn turned turns turning reach reached reaches",
    SAME: "same meanwhile simultaneously",
    NAME_WORD: "name",
    ALWAYS: "always forever",
    SO: "so",
    THING: """
        picture photo photograph portrait sketch drawing painting snapshot view sight front back side top edge middle
        sleeve hat cap coat scarf glove hand arm elbow shoulder ear foot feet hands heels lap bag basket ahead instead
        wake shadow voice song songs tune garden house shop car kitchen bakery boathouse letter letters bicycle boat
        tent hammock chair plate cup bowl rope lead care help afraid fond tired ashamed jealous envious
        """,
    ALL: "all whole throughout",
    DAY: """
        day days night nights week weeks month months year years summer winter morning mornings afternoon evening
        weekend time
        """,
    CLOCK: "noon midnight midday dawn dusk sunrise sunset daybreak o'clock",
    BEAST: """
        dog cat horse pony mare foal puppy kitten goat sheep cow calf bull pig parrot hamster rabbit donkey camel hen
        goose duck tortoise doll puppet marionette robot teddy ship boat yacht schooner canoe dinghy barge lorry car
        tractor train engine hurricane storm statue scarecrow snowman character avatar
        """,
    TOO: "too also likewise ditto",
    NOBODY: "nobody none nothing",
}  # fmt: skip
# Months, days and the like are capitalised, but they are neither people nor places.
CALENDAR = _words(
    """
    January February March April May June July August September October November December Monday Tuesday Wednesday
    Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays Christmas Easter
    Eid Diwali English French German Spanish Italian Portuguese Chinese Japanese Indian African European American
    """
)
# Names that are words too: "his wife Rose perfume".
NAMES_LIKE_WORDS = _words(
    """
    Rose Grace Faith Hope Joy Frank Will Mark May April June Dawn Eve Ivy Lily Daisy Violet Poppy Heather Holly Hazel
    Amber Ruby Pearl Jasmine Rosemary Basil Sage Olive Iris Robin Jay Art Bill Jack Rob Pat Sue Victor Ray Drew Chase
    Guy Earl Duke King Prince Max Gene Miles Carol Harmony Melody Summer Autumn Early Gay Ginger Crystal Cherry Coral
    Sandy Sunny Rich Grant Lance Pierce Chance Ace Bud Dean Clay Cliff Ford Glen Heath Lane Reed Wade Woody
    """
)
# Words that stand without an article at the beginning of a sentence, as names do.
NAME_MARK = "@"  # before a word that can be nothing but a name, whatever else it may mean
# First names of ours that are other words in a large English dictionary: at the start of a sentence they may be either.
NAMES_THAT_ARE_WORDS = _words(
    """
    Abigail Alexia Amandine Amber Amrita Ana Anas Angelica Anil Ann Anna Aurelia Benedict Benjamin Bertha Beth
    Billy Bobby Bonnie Brad Brent Caner Carl Carol Charlotte Clarence Crystal Daisy Dawn Derrick Dieter Don
    Donna Dora Earl Ferial Frank Fritz Gemma Ghazi Gilbert Glen Graham Hamza Harry Heather Hector Henry Holly
    Horst Jack Jane Jenny Jill Jimmy Johannes John Johnny Joy Kamala Kayo Ken Kyle Lamia Lance Leman Lewis Louis
    Macarena Mads Marc Marcel Marguerite Maria Mark Martin Maxwell Maya Mike Mina Minas Nancy Ninon Otto Pascal
    Peter Phoebe Rick Rishi Roger Roque Rose Rosemary Ruby Ruth Sally Serena Sheila Sherry Solon Sue Tamer Tammy
    Ted Timothy Tom Tony Trine Troy Udo Veronica Victor Victoria Viola Violet Warren Willie Xenia
    """
)
# First names that are other words of this lexicon, or words with which sentences begin: names where only names stand.
WORDS_AS_NAMES = _words(
    """
    April May June August Dawn Eve Ivy Lily Emily Holly Molly Polly Sally Dolly Nelly Kelly Shelly Carly Billy Beverly
    Kimberly Merry Marry Hope Faith Joy Rain Rainy Storm Stormy Snow Summer Autumn Winter Spring Ash Ashly Mason Hunter
    Archer Baker Weaver Porter Piper Bishop Judge Smith Sergeant Sheriff Marshal Happy Wily Tilly Milly Willy
    Cecily Elly Lilly Hailey Haily Nataly Everly Waverly Reilly Tully Scully Anatoly Savely Vasily Vitaly
    Sky Coal Honey Misty Frost Dewey Sandy
    """
)
NO_NAMES = _words(
    """
    then close what every each some many most few several all both another other later soon now here there yet still
    also again perhaps maybe quite just only even next last finally meanwhile afterwards eventually suddenly
    nearby outside
    inside upstairs downstairs whatever whoever half such how why which today's rain snow sleet hail fog mist smoke
    steam dust sand mud water wind sunlight sunshine light darkness dusk dawn twilight moonlight thunder lightning
    frost ice dew spray foam music laughter applause silence noise traffic bread butter cheese coffee tea soup wine
    beer milk honey jam sugar salt flour wool silk paper paint glue ink oil petrol ash coal wood timber straw hay
    grass moss ivy litter laundry luggage news time work lunch dinner breakfast supper nobody everybody everyone
    somebody someone nothing something everything anything evening morning noon midnight night spring summer autumn
    winter today yesterday tomorrow tonight
    """
)


class KinWord(NamedTuple):
    """A kin word of a text.

    Attributes:
        word: The word of the relation.
        plural: Whether the text has it in the plural.
        predicate: The relation without gender.
        gender: The gender of the relative.
    """

    word: str
    plural: bool
    predicate: str
    gender: str


@cache
def kin_words() -> dict[str, KinWord]:
    """Return the kin words that state a relation, singular and plural."""
    words = {}
    for word, means in {**{word: word for word in WORDS}, **_INFORMAL}.items():
        head, law, _ = word.partition("-in-law")
        plural = ("wives" if head == "wife" else f"{head}s") + law
        for form in (word, plural):
            words[form] = KinWord(means, form == plural, predicate_of(means), gender_of(means))
    return words


@cache
def _classes() -> dict[str, str]:
    classes: dict[str, str] = {}
    # A word that is listed twice has the class that comes first: those of the list are in order of importance.
    for name, words in _LISTS.items():
        for word in words.split():
            classes.setdefault(word, name)
    for word, kin in kin_words().items():
        classes[word] = KINS if kin.plural else KIN
    return classes


def words_of(*classes: str) -> list[str]:
    """Return the words that are listed for some classes."""
    return [word for each in classes for word in _LISTS[each].split()]


@cache
def _compound() -> re.Pattern[str]:
    kin = "|".join(sorted({*kin_words(), *_LISTS[OTHER_KIN].split()}, key=len, reverse=True))
    return re.compile(
        rf"(?:step|god|half|foster|great|grand)-?(?:grand)?-?(?:{kin})s?"
        rf"|(?:{kin})(?:ly|hood|less|like|ed|ing|liness)"
        rf"|(?:.+-)?(?:{kin})(?:-.+)?"
        r"|ex-.+"
    )


_AGE = re.compile(r"(?:.+-)?years?-old|.+-aged|(?:.+-)?(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)(?:ieth|ies)")
_COMPOUND_NUMBER = re.compile(r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-[a-z]+")


def class_of(word: str) -> str:
    """Return the class of a word in small letters."""
    word_class = _classes().get(word)
    if word_class is not None:
        return word_class
    if word[0].isdigit() or _COMPOUND_NUMBER.fullmatch(word):
        return NUMBER
    if _AGE.fullmatch(word):
        return HARD
    if _compound().fullmatch(word):
        return OTHER_KIN
    return OTHER
