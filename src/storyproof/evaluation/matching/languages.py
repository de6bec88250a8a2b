"""What the careful matcher knows of German, Spanish and Chinese: one table per language.

The English table is in `denials` and `careful`, which read the other languages by the same rules with these patterns.
All patterns are for text in lower case; Spanish text has lost its accents (`Language.fold`). For each language:

- where an answer, a conclusion, a correction or a further question begins;
- what denies, gives a reason, or ends either (`signs`), and what denies a mention just before it;
- words for yes, no, nobody, everybody, knowing, believing, and what joins the names of a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_STOP = r"[.;:!?\n—–。；：！？]|--"
_ANSWER_TAIL = r"[\s*_\"'`({\[:：„“«「]*(?:(?:(?:die|la|el)\s+)?[a-d][.)）]\s*)?"  # maybe with the letter of an option
_ENGLISH_ANSWER = rf"\banswer\b[\"'*_)\s]*(?:(?::|=|\bis\b){_ANSWER_TAIL})+|\\boxed\s*\{{|<answer>"


def _signs(
    *, comma: str, denial: str, reason: str, end: str, clause: str = "(?!)", verb: str = "(?!)"
) -> re.Pattern[str]:
    """Return the pattern of signs that `denials.weigh` reads; `clause` ends a denial but not a reason.

    `verb` ends a denial that has named what it denies.
    """
    return re.compile(
        f"(?P<stop>{_STOP})|(?P<comma>{comma})|(?P<is>{clause})|(?P<again>{verb})|(?P<denial>{denial})|(?P<reason>{reason})|"
        f"(?P<end>{end})"
    )


@dataclass(frozen=True, eq=False)
class Language:
    """How replies in one language are read.

    Attributes:
        something: A letter that adds something to an answer beside it; articles and prepositions do not.
        further: Where the model begins to ask questions of its own.
        answer: What stands before an answer, such as "The answer is".
        sentence_end: Where a sentence ends.
        hence: What begins a conclusion.
        revised: What says that an earlier answer no longer holds.
        correction: What begins a correction.
        signs: What denies, gives a reason, or ends either; see `denials`.
        denied_after: What denies the mention before it.
        unreal: What would be, if things had gone otherwise; in the group `second`, where they may look afterwards.
        endings: What a noun may have at its end.
        spelling: Other spellings of letters.
        folded: Letters that stand for others in both reply and answer, such as those without accents.
        spaced: Whether spaces divide words.
        lookalikes: Words that contain a container but name another one.
        adverbs: What may stand before yes or no, where spaces do not divide words.
        yes: Words that mean yes.
        no: Words that mean no.
        unsure: Phrases that mean neither.
        knows: That somebody knows.
        wrong: That somebody is wrong.
        negation: What turns a verb into its opposite.
        nobody: Words that mean nobody.
        everybody: Words that mean all people.
        save: What excepts people from everybody.
        joints: What may stand between and around names in a list.
        thinks: Verbs of thinking.
        also: That somebody else thinks the same.
        others: Words for all people but those that were named.
        only: That something is all there is.
        sole: That there is one person only.
        contrast: What says that a clause is unlike the one before.
        conjunction: What may join two clauses without a comma.
        place: A container after its preposition.
    """

    something: re.Pattern[str]
    further: re.Pattern[str]
    answer: re.Pattern[str]
    sentence_end: re.Pattern[str]
    hence: re.Pattern[str]
    revised: re.Pattern[str]
    correction: re.Pattern[str]
    signs: re.Pattern[str]
    denied_after: re.Pattern[str]
    yes: re.Pattern[str]
    no: re.Pattern[str]
    unsure: re.Pattern[str]
    knows: re.Pattern[str]
    wrong: re.Pattern[str]
    negation: re.Pattern[str]
    nobody: re.Pattern[str]
    everybody: re.Pattern[str]
    save: re.Pattern[str]
    joints: re.Pattern[str]
    thinks: re.Pattern[str]
    also: re.Pattern[str]
    others: re.Pattern[str]
    only: re.Pattern[str]
    sole: re.Pattern[str]
    contrast: re.Pattern[str]
    conjunction: re.Pattern[str]
    place: re.Pattern[str]
    unreal: re.Pattern[str] = re.compile(r"(?!)")
    adverbs: re.Pattern[str] = re.compile(r"(?!)")
    endings: Sequence[str] = ()
    spelling: Sequence[tuple[str, str]] = ()
    folded: dict[int, int] = field(default_factory=dict)
    spaced: bool = True
    lookalikes: Sequence[str] = ()

    def fold(self, text: str) -> str:
        """Return text with the letters that are told apart; its length stays."""
        return text.translate(self.folded) if self.folded else text

    def forms(self, name: str) -> list[str]:
        """Return other forms of a name in lower case."""
        bases = [name]
        for letter, other in self.spelling:
            bases += [base.replace(letter, other) for base in bases if letter in base]
        return [base + ending for base in bases for ending in ("", *self.endings) if base != name or ending]


_SENTENCE_END = re.compile(r"[.!?](?=\s|$|[\"'*)»“”])|\n|</answer>")

GERMAN = Language(
    something=re.compile(r"(?<![^\W\d_])(?!(?<!\w)(?:der|die|das|dem|den|des|eine?[mnrs]?|im|ins?)(?!\w))[^\W\d_]"),
    further=re.compile(r"\n\W{0,8}(?:frage|geschichte|question|story|user)\s*(?:\d+\s*)?:"),
    answer=re.compile(
        rf"\b(?:(?:kurz)?antwort|lösung|fazit|ergebnis|richtig)\b[\"'*_)\s]*(?:(?::|=|\blautet\b|\bist\b|\bwäre\b|\bkann\s+nur\b|"
        rf"\balso\b|\bdaher\b)"
        rf"{_ANSWER_TAIL})+|{_ENGLISH_ANSWER}"
    ),
    sentence_end=_SENTENCE_END,
    hence=re.compile(
        r"[,.;:\n]\s{0,4}(?:und\s)?(?:also|daher|deshalb|deswegen|somit|folglich|demnach|das heißt|so)\b"
        r"(?!\s+(?:dass|wie))"
    ),
    revised=re.compile(r"\b(?:final|endgültig\w*|nein|doch|eigentlich|korrektur|moment)\b"),
    correction=re.compile(
        r"[.,!?…\n–—]\W{0,8}(?:nein,?\s+)?(?:moment|warte|halt|stopp|korrektur|quatsch|entschuldigung|pardon|ach nein|"
        r"besser gesagt|genauer gesagt)\b"
    ),
    signs=_signs(
        comma=r",(?!\s*(?:dass|daß|ob|wo|wie|oder|noch|wohin|sondern)\b)",
        denial=r"\b(?:nicht\b(?!\s+(?:nur|bloß)\b)|kein\w*|nie(?:mals)?\b|weder\b|(?:an)?statt\b|anstelle\b|außer\b|ohne\b(?!\s+zweifel)|"
        r"bezweifel\w*|niemand\b|ausgeschlossen\b)",
        reason=r"\b(?:weil|denn|obwohl|obgleich|auch\s+wenn|selbst\s+wenn|wenngleich|während|bevor|nachdem|als|wenn|indem|"
        r"ehe|trotz|seit|da(?!\s+(?:drin|ist|liegt|wird|sucht|oben|unten)\b)|wie|bis)\b",
        verb=r"\b(?:ist|sind|sucht|wird|liegt)\s+(?:er|sie|es|das|der|die)\b",
        end=r"\b(?:sondern|aber|jedoch|doch|hingegen|dagegen|stattdessen|vielmehr|also|daher|deshalb|deswegen|somit|"
        r"folglich)\b|\bund\s+(?:\w+\s+)?(?:wird|sucht|glaubt|denkt|würde|schaut|sieht|geht|meint|vermutet|ist|liegt)\b",
    ),
    denied_after=re.compile(
        r"(?:\s+(?!(?:und|oder|aber|sondern|weil|denn|da|nicht|obwohl)\b)\w+){0,5}\s+(?:nicht|nie|niemals)\b"
        r"(?!\s+(?:im|in|ins|der|die|das|dem|den|nur|bloß|\w+(?:tasche|truhe)\b))|\s+(?:ist|war|wäre)\s+(?:jetzt\s+|nun\s+)?"
        r"(?:leer|falsch|ausgeschlossen)\b|\s+(?:scheidet|kommt\s+nicht|fällt\s+weg)\b"
    ),
    unreal=re.compile(
        r"\b(?:wenn|falls)\b[^.!?,\n]{0,200}\bhätten?\b[^.!?\n]*|\b(?:zuerst|zunächst|erst)\b[^.!?\n]{0,80}?"
        r"(?P<second>\b(?:wenn|falls|dann|danach|und)\b[^.!?\n]{0,40}\b(?:vielleicht|eventuell|möglicherweise)\b[^.!?\n]*)"
    ),
    endings=("s", "es", "n", "en", "e"),
    spelling=(("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")),
    yes=re.compile(
        r"\b(?:ja(?:wohl)?|doch|schon|durchaus|in der tat|yes|stimmt|richtig|genau|"
        r"natürlich|klar|selbstverständlich|sicher|auf jeden fall|definitiv|absolut|zweifellos|ohne zweifel)\b"
    ),
    no=re.compile(
        r"\b(?:nein|nö|nee|no|ich (?:glaube|denke) (?:das )?nicht|"
        r"keineswegs|keinesfalls|auf keinen fall|nicht wirklich|"
        r"nicht mehr|(?:eigentlich|wohl|eher|leider|sicher|"
        r"bestimmt|offenbar|vermutlich|wahrscheinlich|gar|überhaupt|natürlich|anscheinend)\s+nicht)\b"
    ),
    unsure=re.compile(
        r"\b(?:ja und nein|jein|vielleicht|unklar|möglicherweise|geht\b.{0,40}\bnicht hervor|nicht (?:sagen|beurteilen|"
        r"beantworten|feststellen|klar|eindeutig|sicher|bekannt(?!,? (?:wo|dass)\b))|"
        r"(?:ich|man|wir) wei(?:ß|ss)\b.{0,20}\bnicht|"
        r"(?:ich|wir) haben? (?:da(?:zu|rüber|von) )?(?:leider )?(?:keine|nicht)|keine angabe\w*|ja oder nein)\b"
    ),
    knows=re.compile(r"\b(?:wei(?:ß|ss)|wissen|kennt|bekannt|bewusst|ahnt|ahnung|im bilde|knows?|aware)\b"),
    wrong=re.compile(
        r"\b(?:irrt|fälschlich\w*|irrtümlich\w*|zu unrecht|"
        r"falsche[nrs]?\s+(?:vorstellung|annahme|überzeugung|ansicht|meinung)|"
        r"falsch\s+liegt|liegt\s+\w*\s*falsch|im\s+irrtum|täuscht|wrong)\b"
    ),
    negation=re.compile(
        r"\b(?:nicht(?!\s+(?:nur|bloß)\b)|nein|kein\w*|nie|niemals|nichts|weder|not|n't|kaum|ausgeschlossen|scheide[tn])\b|n't\b"
    ),
    nobody=re.compile(
        r"\b(?:niemand|keiner|kein(?:e|er)?\s+(?:einzig\w+|mensch)|"
        r"keine(?=\s+(?:von|der|dieser|person)\b)|nobody|no one|none)\b"
    ),
    everybody=re.compile(
        r"\b(?:(?<!vor )alle(?:\s+(?:vier|drei|fünf|sechs))?|jeder|everybody|everyone|all(?:\s+of\s+them)?)\b"
    ),
    save=re.compile(r"\b(?:außer|ausser|bis auf|mit ausnahme von|ausgenommen|except|but)\b"),
    joints=re.compile(r"\b(?:und|sowie|als auch|sowohl|sowie auch|auch|nur|die|von|and)\b"),
    also=re.compile(r"\b(?:auch|ebenfalls|ebenso|genauso|außerdem|desgleichen)\b"),
    thinks=re.compile(r"\b(?:glaub\w*|denk\w*|mein(?:t|en)|nimmt|nehmen|vermut\w*|überzeugt|think\w*|believ\w*)\b"),
    others=re.compile(r"\b(?:(?:die|alle) (?:anderen|übrigen|restlichen)|der rest)\b"),
    only=re.compile(r"\b(?:nur|bloß|lediglich)\b"),
    sole=re.compile(r"\beinzige[rn]?\b"),
    contrast=re.compile(r"\b(?:aber|jedoch|hingegen|dagegen|doch|sondern|allerdings)\b"),
    conjunction=re.compile(r"\bund\b"),
    place=re.compile(
        r"\b(?:im|ins|am|(?:in|an|auf|unter|hinter|neben|vor)\s+(?:der|dem|die|den|das|einem|einer))\s+([\w-]+)"
    ),
)

SPANISH = Language(
    something=re.compile(r"(?<![^\W\d_])(?!(?<!\w)(?:el|la|los|las|una?|unos|unas|en|al|del)(?!\w))[^\W\d_]"),
    further=re.compile(r"\n\W{0,8}(?:pregunta|historia|question|story|user)\s*(?:\d+\s*)?:"),
    answer=re.compile(
        rf"\b(?:respuesta|opcion|conclusion|solucion|correcto|resultado)\b(?:\s+(?:final|correcta|corta|breve))?[\"'*_)\s]*"
        rf"(?:(?::|=|\bes\b|\bseria\b|\bentonces\b){_ANSWER_TAIL})+|{_ENGLISH_ANSWER}"
    ),
    sentence_end=_SENTENCE_END,
    hence=re.compile(
        r"[,.;:\n]\s{0,4}(?:y\s)?(?:asi que|por (?:lo )?tanto|por eso|por ende|por consiguiente|"
        r"entonces|en consecuencia|"
        r"de modo que|es decir|luego|asi pues|en conclusion)\b"
    ),
    revised=re.compile(r"\b(?:final|finalmente|no|espera|en realidad|correccion|perdon)\b"),
    correction=re.compile(
        r"[.,!?…\n–—]\W{0,8}(?:no,?\s+)?(?:espera|perdon|corrijo|correccion|mejor dicho|un momento|disculpa|digo)\b"
    ),
    signs=_signs(
        comma=r",(?!\s*(?:ni|o|u|que|tampoco)\b)",
        denial=r"\b(?:no\b(?!\s+(?:solo|solamente|hay\s+duda|cabe\s+duda)\b)|ni\b|nunca\b|jamas\b|tampoco\b|"
        r"sin\b(?!\s+(?:embargo|duda)\b)|en\s+(?:vez|lugar)\s+del?\b|excepto\b|salvo\b|menos\b|dud[ao]\b|ningun\w*)",
        reason=r"\b(?:porque|ya\s+que|pues(?!\s*,)|puesto\s+que|dado\s+que|aunque|a\s+pesar|pese|cuando|mientras|antes\s+de|"
        r"despues\s+de|tras|como|si(?!\s+(?:l[oa]\s+)?(?:sabe|conoce|es)\b)|al\s+(?:no\s+)?(?:\w+r)|debido|aun\s+cuando|hasta\s+que|desde\s+que)\b",
        end=r"\b(?:sino|pero|sin\s+embargo|por\s+(?:lo\s+)?tanto|por\s+eso|asi\s+que|entonces|mas\s+bien|en\s+cambio)\b|"
        r"\by\s+(?:\w+\s+)?(?:\w+\s+)?(?:buscara|ira|mirara|cree|piensa|esta|estan|sigue|diria|creera|busca)\b",
    ),
    denied_after=re.compile(
        r"(?:\s+(?!(?:y|o|pero|sino|porque|pues|aunque|dado|puesto|como|cuando|si|ya|que|no|donde)\b)\w+){0,3}"
        r"\s+(?:ya\s+|que\s+)?no\b(?!\s+(?:en|el|la|los|las|al|del|un|una|solo)\b)|\s+(?:esta|estaba|es|era)\s+(?:ahora\s+)?"
        r"(?:vaci[oa]|incorrect[oa]|fals[oa])\b|,(?:\s+\w+){1,3},\s+no\b(?=\s*(?:[.!]|$))|\s+tampoco\b|\s+queda\s+descartad[oa]\b"
    ),
    unreal=re.compile(
        r"\bsi\b[^.!?,\n]{0,200}\bhubiera\b[^.!?\n]*|\bprimero\b[^.!?\n]{0,80}?"
        r"(?P<second>\b(?:si|luego|despues|y)\b[^.!?\n]{0,40}\b(?:quizas?|tal vez|talvez|posiblemente)\b[^.!?\n]*)"
    ),
    endings=("s", "es"),
    folded=str.maketrans("áéíóúüñ", "aeiouun"),
    yes=re.compile(
        r"\b(?:si|yes|claro(?!\s+que\s+no)|correcto|cierto|exacto|efectivamente|"
        r"por supuesto(?!\s+que\s+no)|afirmativo|sin (?:ninguna )?duda|definitivamente|desde luego|absolutamente)\b"
    ),
    no=re.compile(
        r"\b(?:no|(?:yo )?no (?:lo )?creo|nop|negativo|para nada|en absoluto|que va|de ningun[oa]? (?:modo|manera))\b"
    ),
    unsure=re.compile(
        r"\b(?:si y no|si o no|quizas?|tal vez|talvez|posiblemente|"
        r"no (?:esta|queda|es|resulta) (?:claro|posible|seguro)|"
        r"no se (?:puede|sabe|indica|menciona|dice|especifica)|no (?:lo )?puedo|imposible|"
        r"no lo se|no se(?= (?:quien|donde|si|que|cual)\b)|no hay (?:suficiente\w*|informacion)|"
        r"no (?:estoy|estamos) segur[oa]s?|no tengo\b|no sabria|lo desconozco|"
        r"depende)\b"
    ),
    knows=re.compile(
        r"\b(?:sabe(?:r(?:lo)?)?|sabia|conoce|desconoce|ignora|consciente|"
        r"(?:ni )?idea(?!\s+(?:equivocada|falsa|erronea|incorrecta)\b)|enterad[oa]|"
        r"al (?:tanto|corriente)|knows?|aware)\b"
    ),
    wrong=re.compile(
        r"\b(?:equivoca(?:d[oa](?:mente)?)?|erroneamente|error|wrong|(?:idea|creencia|suposicion|impresion)\s+(?:falsa|erronea|incorrecta))\b"
    ),
    negation=re.compile(
        r"\b(?:no(?!\s+sol[oa])|ni|nunca|jamas|tampoco|not|desconoce|ignora|sin|descartad[oa]s?)\b|n't\b"
    ),
    nobody=re.compile(r"\b(?:nadie|ningun[oa]?|ni\s+un[oa]?(?:\s+sol[oa])?|nobody|no one|none)\b"),
    everybody=re.compile(
        r"\b(?:tod[oa]s(?:\s+ell[oa]s)?|todo el mundo|l[oa]s (?:cuatro|tres|cinco)|everybody|everyone)\b"
    ),
    save=re.compile(r"\b(?:excepto|salvo|menos|a excepcion de|aparte de|except)\b"),
    joints=re.compile(r"\b(?:y|e|a|tanto|como|tambien|solo|solamente|asi como|ademas de|incluso|and|son)\b"),
    also=re.compile(r"\b(?:tambien|igualmente|asimismo|ademas|al igual que|lo mismo)\b"),
    thinks=re.compile(
        r"\b(?:piensan?|creen?|creyendo|pensando|opinan?|consideran?|suponen?|convencid[oa]s?|think\w*|believ\w*)\b"
    ),
    others=re.compile(r"\b(?:(?:l[oa]s|todos l[oa]s) (?:demas|otr[oa]s|restantes)|el resto)\b"),
    only=re.compile(r"\b(?:solo|solamente|unicamente)\b"),
    sole=re.compile(r"\b(?:unic[oa])\b"),
    contrast=re.compile(r"\b(?:pero|en cambio|sin embargo|sino|por el contrario|por su parte)\b"),
    conjunction=re.compile(r"\b(?:y|e)\b"),
    place=re.compile(
        r"\b(?:(?:en|sobre|bajo|tras|(?:dentro|debajo|detras|encima|junto)\s+(?:de|a))\s+(?:el|la|los|las|un|una)|"
        r"(?:dentro|debajo|detras|encima|junto)\s+(?:del|al))\s+([\w-]+)"
    ),
)

CHINESE = Language(
    something=re.compile(r"(?![在里中内面的。，！？：；、“”])[^\W\d_]"),
    further=re.compile(r"\n\W{0,8}(?:问题|故事|question|story|user)\s*(?:\d+\s*)?[:：]"),
    answer=re.compile(
        rf"(?:答案|结论|回答|正确选项|结果)[\"'*_)\s”]*(?:(?::|：|=|应该|应当|只能|就|是(?![”\"'*」』\s]*(?:[。.，,！!\n]|$))|为)"
        rf"{_ANSWER_TAIL})+|{_ENGLISH_ANSWER}"
    ),
    sentence_end=re.compile(r"[。！？!?]|\.(?=\s|$)|\n|</answer>"),
    hence=re.compile(r"(?:所以|因此|因而|于是|综上|也就是说|可见|总之|由此)"),
    revised=re.compile(r"最终|不对|更正|其实|抱歉|等等"),
    correction=re.compile(
        r"(?:^|[。，！？…\n.,!?])\s*(?:等等|等一下|不对|更正|说错了|抱歉|哦不|不(?=[，,](?:应该|是|而是)))[，,：:。！]?"
    ),
    signs=_signs(
        comma=r"(?!)",
        clause=r"[，,](?!也不|或|也没|还是|[他她](?:仍|还|就|会|便))",
        denial=r"不(?!仅|只|但|过|管|久|同|错)|没有?(?!错|问题)|并非|无法|绝非|而非|除了|未(?:曾|必)?|莫非|别处",
        reason=r"因为|由于|虽然|尽管|即使|即便|如果|毕竟|当(?!然|时|中|场)|原因",
        end=r"但是?|而是|不过|然而|所以|因此|于是|却|实则|[，,](?=[他她](?:仍|还|就|会|便))",
    ),
    denied_after=re.compile(
        r"(?:里面?|中|内)?(?:(?:已经)?是空的|(?:现在)?(?:已经)?没有|(?:是|都|肯定|绝对|一定|显然)?不对|是错的|被?排除|以外|之外|(?:是)?不可能)"
    ),
    unreal=re.compile(
        r"(?:如果|假如|要是)[^。！？\n]{0,60}(?:的话|就)[^。！？\n]*|(?:首先|先)[^。！？\n]{0,40}?"
        r"(?P<second>(?:然后|之后|再|如果)[^。！？\n]{0,20}(?:可能|也许|或许)[^。！？\n]*)"
    ),
    spaced=False,
    lookalikes=("零钱包",),
    adverbs=re.compile(
        r"^(?:我(?:认为|觉得|想|猜)|显然|明显|应该|恐怕|看来|看样子|大概|其实|确实|的确|绝对|一定|"
        r"肯定(?=是|知|不|否|对)|(?:很|极有|大有|极)?可能(?=是|知|不|否)|多半|"
        r"很遗憾|可惜|当然(?=是|知|不|否)|并(?=不|没)|没错(?=是))+"
    ),
    yes=re.compile(r"(?<![不否])(?:是的|是(?!否|不是|谁|什么)|肯定的?|对(?!不|于)|知道|知情|没错|当然|正确|yes)"),
    no=re.compile(r"否定的?|否(?!则)|不(?:是(?!很|太)|对|知道|清楚|晓得|会|能)?|没有|no\b"),
    unsure=re.compile(
        r"是也不是|也许|(?<![不极有很大])可能(?!不)|没有(?:说|写)|或许|无法|不(?:太)?(?:确定|好说|能确定|能判断|得而知)|说不(?:准|清)|是或否|是还是否|没有(?:说明|提到|提及|信息)|"
        r"我不(?:知道|清楚)|看情况"
    ),
    knows=re.compile(r"知(?!识)|心里有数|清楚|晓得|明白|了解|意识到|察觉|knows?|aware"),
    wrong=re.compile(
        r"误[以认]为|错误地|错误的?(?:认识|想法|看法|信念|认知|判断)|弄错|搞错|判断错|有误|错了|记错|wrong"
    ),
    negation=re.compile(r"一无所知|排除|否(?!则)|不(?!仅|只|但|过|光|管|疑)|没|未|并非|无从|\bnot\b|n't\b"),
    nobody=re.compile(r"没有?人|没有?任?何?一个人|没有任何人|一个人[也都]没|无人|谁(?:都|也)(?:不|没)|nobody|no one"),
    everybody=re.compile(r"所有人|大家|每个?人|全部|全都|四个人都|三个人都|他们都"),
    save=re.compile(r"除了?|除去|以外"),
    joints=re.compile(r"[和与跟及]|以及|还有|只有|仅有|都是|都|(?<![:：])是|有|两人|三人|四人|也"),
    also=re.compile(r"也|同样|亦|另外|此外|[才则都]是"),
    thinks=re.compile(r"认为|觉得|以为|相信|深信|这[么样]想|think\w*|believ\w*"),
    others=re.compile(r"其[他它]|其余|另外[两二三几]|剩下的"),
    only=re.compile(r"[只仅]"),
    sole=re.compile(r"唯一"),
    contrast=re.compile(r"但|却|而(?!且)|则|不过|然而"),
    conjunction=re.compile(r"而(?!且)|但是?"),
    place=re.compile(r"在([^在，,。；;？?认]+?)[里中内上下旁]"),
)
