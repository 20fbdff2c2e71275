"""Greetings, thanks and good-byes: turns that need no document and deserve no refusal."""

import re

# A message is small talk when every word of it stands here and at least one is an opener.
OPENERS = frozenset(
    """hello hi hey hiya howdy yo greetings welcome thanks thank thx ty cheers bye goodbye farewell
    morning afternoon evening night morgen abend tag hallo servus moin danke dankeschön tschüss
    tschuss grüezi bonjour salut bonsoir merci hola gracias adiós adios buenos buenas ciao salve
    buongiorno grazie arrivederci olá ola oi obrigado obrigada tchau hoi dag bedankt dankjewel hej
    tack
    привет спасибо здравствуйте 你好 您好 谢谢 再见 こんにちは ありがとう 안녕하세요 감사합니다
    مرحبا شكرا ok okay cool great nice perfect awesome super wow lol haha""".split()
)
FILLERS = frozenset(
    """a all again and are at be day do doing for fine friend going good guys have how help i is it
    it's just later lot lots man me mate much my nice now of ok okay please see so soon team that
    that's the there this to today today's tomorrow up very welcome well what's whats was were we
    you you're your bot assistant brain guten gut tag abend nacht morgen auf wiedersehen
    vielen dank sehr schön bien mucho muchas muchos tardes noches días dias beaucoup tout le monde
    molte mille tutti bom dia boa tarde noite muito dank je wel u everyone everybody really
    appreciate appreciated am had cool great perfect awesome helpful helped helps
    work worked works job one answer""".split()
)
# Whole questions about the assistant itself.
ABOUT_ITSELF = re.compile(
    r"(so )?(how are (you|things)( doing)?( today)?|how'?s it going|how is it going|what'?s up"
    r"|who are you|what are you|what can you do( for me)?|how can you help( me)?|can you help me"
    r"|are you (there|a (ro)?bot|human|real|an ai)|what is your name|what's your name"
    r"|who (made|built|created) you|(please )?(repeat|say) that( again)?"
    r"|you('re| are) (so |very |really )?"
    r"(a bot|amazing|awesome|bad|boring|clever|cool|dumb|funny|good|great|helpful|kind|nice|right"
    r"|smart|stupid|sweet|the best|useless|welcome|wonderful|wrong)"
    r"|i('m| am) (bored|tired|happy|sad|back|fine|good)|i (love|like|hate) (you|it)|sing me a song"
    r"|do you (feel|sleep|dream)\b.{0,40}|do you (like|have) (me|feelings|a name|friends|fun)"
    r"|tell me a joke|nice to meet you"
    r"|have a (nice|good|great) (day|evening|night|weekend|one)|see you( (later|soon|tomorrow))?"
    r"|wie geht'?s( dir| ihnen)?|wer bist du|was kannst du|comment (ça|ca) va|qui es-tu|ça va"
    r"|(cómo|como) est[aá]s|(qué|que) tal|come stai|come va|tudo bem)"
)
_PAUSE = re.compile(r"[.!?¿¡,;:…\n]+")
LONGEST = 80


def is_small_talk(message: str) -> bool:
    """Whether the message only greets, thanks or chats; never true for a question of substance."""
    plain = message.replace("’", "'").casefold().strip()
    if not plain or len(plain) > LONGEST:
        return False
    clauses = list(filter(None, (part.strip() for part in _PAUSE.split(plain))))
    verdicts = [_clause_is_small_talk(clause) for clause in clauses]
    return any(verdicts) and all(
        v or _only_fillers(c) for v, c in zip(verdicts, clauses, strict=True)
    )


def _words(clause: str) -> list[str]:
    return re.findall(r"[\w']+", clause)


def _clause_is_small_talk(clause: str) -> bool:
    if ABOUT_ITSELF.fullmatch(clause):
        return True
    words = _words(clause)
    return any(word in OPENERS for word in words) and all(
        word in OPENERS or word in FILLERS for word in words
    )


def _only_fillers(clause: str) -> bool:
    return all(word in FILLERS or word in OPENERS for word in _words(clause))
