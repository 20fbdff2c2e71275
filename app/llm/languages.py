"""The languages that the offline model speaks: which one a text is in, and what it says in it."""

import re
from dataclasses import dataclass
from functools import cache

from app.stop_words import listed_stop_words


@dataclass(frozen=True)
class Phrases:
    """The sentences of one language; `stemmer` is its name for PyStemmer."""

    stemmer: str
    quoting: str
    nothing: str
    not_covered: str
    covered: str
    no_documents: str
    greeting: str
    welcome: str
    # Words that greet, words that thank, and what begins questions for a number or a time.
    greets: str
    thanks: str
    counts: str
    # Over a list of documents; and what a deflection adds, since meaning is known in English only.
    listing: str
    by_words: str = ""


PHRASES = {
    "en": Phrases(
        stemmer="english",
        quoting="No language model is connected, so I compose nothing: these lines fit best.",
        nothing="I found nothing about this in the documents. I searched for",
        not_covered="The documents do not cover this.",
        covered="They cover",
        no_documents="There are no documents yet: add some, then ask again.",
        greeting="Hello! Ask me about your documents: I look for the lines that answer and quote"
        " them.",
        welcome="You are welcome! Ask on whenever you like.",
        greets="hello hi hey greetings morning afternoon evening",
        thanks="thank thanks thx cheers",
        counts="how (?:many|much|long|often|old|far|large|big|high|fast|late|early)|when|which port"
        "|what (?:port|time|date|year|version|price|number|size|limit|amount|percentage)",
        listing="These documents are there:",
    ),
    "de": Phrases(
        stemmer="german",
        quoting="Es ist kein Sprachmodell verbunden, darum formuliere ich nichts: Diese Zeilen"
        " passen am besten.",
        nothing="Dazu habe ich in den Dokumenten nichts gefunden. Gesucht habe ich nach",
        not_covered="Die Dokumente behandeln das nicht.",
        covered="Sie behandeln",
        no_documents="Es gibt noch keine Dokumente: Füge welche hinzu und frage dann erneut.",
        greeting="Hallo! Frag mich zu deinen Dokumenten: Ich suche die Zeilen, die antworten, und"
        " zitiere sie.",
        welcome="Gern geschehen! Frag jederzeit weiter.",
        greets="hallo moin servus guten grüezi",
        thanks="danke dankeschön vielen",
        counts="wie ?viele?|wie (?:lange?|oft|hoch|alt|groß|weit|spät|teuer|schnell)|wann"
        "|welcher port",
        listing="Diese Dokumente gibt es:",
        by_words="Gesucht habe ich nach den Wörtern der Frage: Was in einer anderen Sprache"
        " geschrieben ist, finde ich so nicht.",
    ),
    "fr": Phrases(
        stemmer="french",
        quoting="Aucun modèle de langue n’est connecté, je ne rédige donc rien : voici les lignes"
        " les plus pertinentes.",
        nothing="Je n’ai rien trouvé à ce sujet dans les documents. J’ai cherché",
        not_covered="Les documents ne traitent pas de cela.",
        covered="Ils traitent de",
        no_documents="Il n’y a pas encore de documents : ajoutez-en, puis reposez la question.",
        greeting="Bonjour ! Interrogez-moi sur vos documents : je cherche les lignes qui répondent"
        " et je les cite.",
        welcome="Je vous en prie ! Continuez quand vous voulez.",
        greets="bonjour salut bonsoir",
        thanks="merci",
        counts="combien|quand|quel(?:le)? (?:port|heure|date|année|version|prix|taille|durée"
        "|délai)",
        listing="Voici les documents :",
        by_words="J’ai cherché les mots de la question : ce qui est écrit dans une autre"
        " langue m’échappe ainsi.",
    ),
    "es": Phrases(
        stemmer="spanish",
        quoting="No hay ningún modelo de lenguaje conectado, así que no redacto nada: estas son"
        " las líneas que mejor encajan.",
        nothing="No encontré nada sobre esto en los documentos. Busqué",
        not_covered="Los documentos no tratan este tema.",
        covered="Tratan de",
        no_documents="Todavía no hay documentos: añade alguno y vuelve a preguntar.",
        greeting="¡Hola! Pregúntame sobre tus documentos: busco las líneas que responden y las"
        " cito.",
        welcome="¡De nada! Sigue preguntando cuando quieras.",
        greets="hola buenos buenas",
        thanks="gracias",
        counts="cuánt[oa]s?|cuándo|qué (?:puerto|hora|fecha|año|versión|precio|tamaño|plazo)",
        listing="Estos son los documentos:",
        by_words="He buscado las palabras de la pregunta: lo escrito en otro idioma no lo"
        " encuentro así.",
    ),
    "it": Phrases(
        stemmer="italian",
        quoting="Nessun modello linguistico è collegato, quindi non compongo nulla: queste sono le"
        " righe più adatte.",
        nothing="Non ho trovato nulla su questo nei documenti. Ho cercato",
        not_covered="I documenti non trattano questo argomento.",
        covered="Trattano di",
        no_documents="Non ci sono ancora documenti: aggiungine qualcuno e chiedi di nuovo.",
        greeting="Ciao! Chiedimi dei tuoi documenti: cerco le righe che rispondono e le cito.",
        welcome="Prego! Continua pure a chiedere.",
        greets="ciao salve buongiorno buonasera",
        thanks="grazie",
        counts="quant[oaie]|quando|quale (?:porta|ora|data|anno|versione|prezzo|termine)",
        listing="Ecco i documenti:",
        by_words="Ho cercato le parole della domanda: così non trovo ciò che è scritto in"
        " un’altra lingua.",
    ),
    "pt": Phrases(
        stemmer="portuguese",
        quoting="Nenhum modelo de linguagem está ligado, por isso não redijo nada: estas são as"
        " linhas mais adequadas.",
        nothing="Não encontrei nada sobre isto nos documentos. Procurei",
        not_covered="Os documentos não tratam deste assunto.",
        covered="Tratam de",
        no_documents="Ainda não há documentos: adicione alguns e pergunte de novo.",
        greeting="Olá! Pergunte-me sobre os seus documentos: procuro as linhas que respondem e"
        " cito-as.",
        welcome="De nada! Pergunte sempre que quiser.",
        greets="olá ola oi bom boa",
        thanks="obrigado obrigada",
        counts="quant[oa]s?|quando|qual (?:porta|hora|data|ano|versão|preço|prazo)",
        listing="Estes são os documentos:",
        by_words="Procurei as palavras da pergunta: o que está noutra língua não encontro assim.",
    ),
    "nl": Phrases(
        stemmer="dutch",
        quoting="Er is geen taalmodel verbonden, dus ik formuleer niets: deze regels passen het"
        " best.",
        nothing="Ik heb hierover niets gevonden in de documenten. Ik zocht naar",
        not_covered="De documenten gaan hier niet over.",
        covered="Ze gaan over",
        no_documents="Er zijn nog geen documenten: voeg er een toe en vraag het opnieuw.",
        greeting="Hoi! Vraag me iets over je documenten: ik zoek de regels die antwoord geven en"
        " citeer ze.",
        welcome="Graag gedaan! Vraag gerust verder.",
        greets="hoi goedemorgen goedemiddag goedenavond dag",
        thanks="bedankt dank dankjewel",
        counts="hoe ?veel|hoe (?:lang|vaak|hoog|oud|groot|ver|laat|duur)|wanneer|welke poort",
        listing="Dit zijn de documenten:",
        by_words="Ik zocht naar de woorden van de vraag: wat in een andere taal is"
        " geschreven vind ik zo niet.",
    ),
}  # fmt: skip


def language_of(text: str) -> str:
    """The code of the language whose stop words the text uses most; English when none is."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    scores = dict.fromkeys(PHRASES, 0.0)
    for word in words:
        users = [code for code in PHRASES if word in _telling_words(code)]
        for code in users:
            # A word that many languages share tells little.
            scores[code] += 1 / len(users) ** 2
    return max(scores, key=lambda code: scores[code])


@cache
def _telling_words(language: str) -> frozenset[str]:
    phrases = PHRASES[language]
    return listed_stop_words(language) | {*phrases.greets.split(), *phrases.thanks.split()}


def asks_for_number(question: str, language: str) -> bool:
    """Whether the answer should be a number, an amount or a time."""
    return bool(re.search(rf"\b(?:{PHRASES[language].counts})\b", question.casefold()))


def asks_for_steps(question: str) -> bool:
    """Whether the answer may be a list of things to do: how, wie, comment …"""
    first = re.match(r"\W*(?:how|wie|comment|cómo|como|come|hoe)\b", question.casefold())
    return first is not None


def small_talk(message: str) -> str:
    """A friendly answer to a greeting or to thanks, in its language."""
    phrases = PHRASES[language_of(message)]
    words = set(re.findall(r"[^\W\d_]+", message.casefold()))
    return phrases.welcome if words & set(phrases.thanks.split()) else phrases.greeting
