"""Whole messages that say nothing of their subject: to go on, and to say what documents there are.

They are known by their form alone, as small talk is.
"""

import re

LONGEST = 100
_NOUN = (
    r"(documents?|docs|files?|sources?|texts?|manuals?|materials?|collections?"
    r"|dokumente?n?|dateien|quellen|texte|documents|fichiers|documentos|archivos|fuentes|documenti)"
)
_OURS = r"((a|all|any|of|the|your|my|our|these|those|available|stored|uploaded|me|us) ){0,5}"
_HERE = r"( (there|here|now|currently|available|stored|uploaded|loaded|for me|to me|in here))*"
_HAVE = (
    r"((are|have|is) (there|available|stored|uploaded|loaded|here)"
    r"|(do|have|can) (you|we|i) (have|know|got|hold|see|read|search|access|use|uploaded|stored)"
    r"( (of|about|access to|uploaded|stored))?|do you (have|know)|have (you|we) got"
    r"|have (i|we|you) (uploaded|stored|added)|exist)"
)
_COLLECTION = re.compile(
    rf"((what|which|how many)( kinds? of| types? of| sorts? of)? {_OURS}{_NOUN} {_HAVE}{_HERE}"
    rf"|(list|show|name|enumerate|give) {_OURS}(list of |names of )?{_OURS}{_NOUN}"
    rf"( (that )?(you have|there are|are there|you know))?{_HERE}"
    rf"|what('s| is| are)( there)? in {_OURS}{_NOUN}{_HERE}"
    rf"|what (is|are) {_OURS}{_NOUN} about|what do {_OURS}{_NOUN} (cover|contain|say|hold)"
    r"|what (topics|subjects)( do you (cover|know)| are (there|covered)| can i ask)( about)?"
    r"|what (can|could|should) i ask( you)?( about)?|what do you know( about)?"
    rf"|(welche|was für|wie viele?) {_NOUN} (gibt es|hast du|haben sie|kennst du|sind)"
    r"( (da|hier|vorhanden|gespeichert|verfügbar|denn))*"
    rf"|(zeig|zeige|liste|nenne?)( mir)?( alle| die| deine| meine)* {_NOUN}( an| auf)?"
    r"|was (weißt|weisst) du|was kann ich (dich )?fragen"
    rf"|(quels|combien de) {_NOUN} (as-tu|avez-vous|y a-t-il|sont disponibles)"
    rf"|(montre|liste|affiche)(z|-moi|z-moi)? (tous )?(les|tes|vos|mes) {_NOUN}"
    rf"|(qué|cuántos|que) {_NOUN} (hay|tienes|tiene)|(quali|quanti) {_NOUN} (ci sono|hai))"
)
_IN_SOURCE = re.compile(
    rf"\W*(please )?((what|which|how many) {_OURS}{_NOUN} ((are|do) )?((there|we have|you have) )?"
    rf"|(list|show|name|enumerate) {_OURS}{_NOUN} )"
    r"(in|of|from|under) ((the )?(source|folder|collection) )?[\"“'`]?"
    r"(?P<source>[A-Za-z0-9][\w.-]*?)[\"”'`]?\W*",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"((tell|show|give) (me |us )?(some |a (bit|little) )?(more|further)"
    r"( (details?|information|info|examples?))?( (about|on|of) (it|that|this|them|those))?"
    r"|(give|show) (me |us )?(some |an? |another |one |more |a (concrete|simple) )?"
    r"(more )?examples?"
    r"( (of|for) (it|that|this|them|those))?"
    r"|(do you have |is there )?(an? |another |one more |some |any |more )?(more )?examples?"
    r"|for (example|instance)|(any )?more( (details|information|info|examples))?|more please"
    r"|(explain|elaborate|expand|clarify)( (on|about))?( (it|that|this|them|yourself))?"
    r"( (to|for) me)?"
    r"( (a (bit|little) )?(more|further|better|again|in (more |greater )?detail)){0,2}"
    r"|in (more|greater) detail|in other words|summari[sz]e( (it|that|this))?|shorter"
    r"|go (on|ahead)|continue|keep going|carry on|what else|anything else|and then|what then"
    r"|(but |and )?(why|how|when|where|how so|why not|how come)( (is|was) (it|that|this)( so)?)?"
    r"|(erzähl|erzähle|sag|sage)( mir)? mehr( (darüber|davon|dazu))?"
    r"|(gib|nenne?|zeige?)( mir)? (ein|noch ein|weitere) beispiele?|zum beispiel|ein beispiel"
    r"|(erkläre?|erläutere)( mir)?( das| es)?( genauer| näher| ausführlicher)?"
    r"|mehr (dazu|davon|details)|genauer|weiter|und (warum|wie|wann|wo)|warum|wieso|wie"
    r"|(dis-m'en|dites-m'en|dis m'en) plus|(donne|donnez)-moi un exemple|par exemple"
    r"|un exemple|pourquoi|comment|continuez?|plus de détails"
    r"|(cuéntame|dime) más|dame un ejemplo|por ejemplo|un ejemplo|por qué|cómo|continúa"
    r"|(dimmi|raccontami) di più|(dammi )?un esempio|perché|come mai)"
)
_POLITE = re.compile(
    r"^(please|ok|okay|so|well|and|but|then|bitte|und|(can|could|would|will) you( please)?"
    r"|kannst du|können sie|peux-tu|pouvez-vous|puedes)[, ]+"
    r"|[, ]+(please|bitte|then|svp|por favor)$"
)
_WHOLE = re.compile(
    r"(who|whom|whose|what|which|where|when|why|how)('s)?( \w+)?"
    r" (is|are|was|were|does|do|did|can|could|will|would|should|must|may|has|have|had)\b"
    r"(?!.*\bthe\b)"
    r"|(who|what|where|when|why|how)'s (?!.*\bthe\b)|(what|who) (?!.*\bthe\b)\w+s \w+"
)
_MARKS = re.compile(r"[\s.!?¿¡…:;\"“”]+")


def asks_for_more(message: str) -> bool:
    """Whether the message means nothing but to say more of what was asked before."""
    return any(_MORE.fullmatch(plain) for plain in _plain(message))


def asks_about_collection(message: str) -> bool:
    """Whether the message asks what documents there are, not what they say."""
    return any(_COLLECTION.fullmatch(plain) for plain in _plain(message))


def source_to_list(message: str) -> str | None:
    """The word that stands for a source in “which files are in NAME?”, as it is written."""
    found = _IN_SOURCE.fullmatch(message) if len(message) <= LONGEST else None
    return found["source"] if found else None


def is_whole_question(message: str) -> bool:
    """Whether the message, in English, is a sentence that names its subject without “the”."""
    return any(_WHOLE.match(plain) for plain in _plain(message))


def _plain(message: str) -> tuple[str, ...]:
    """The message without marks, as it stands and without the polite words around it."""
    if len(message) > LONGEST:
        return ()
    plain = _MARKS.sub(" ", message.replace("’", "'").casefold()).strip(" ,")
    bare = plain
    while bare != (bare := _POLITE.sub("", bare)):
        pass
    return (plain, bare)
