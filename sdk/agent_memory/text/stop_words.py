"""Stop words: words that carry no meaning by themselves.

These are articles, pronouns, prepositions, conjunctions, and forms of "be", "have", "do" and "will". Which of them may
be left out depends on the use. A question loses its question words. A claim keeps those that change its
meaning: "before noon" is not "after noon".
"""

from __future__ import annotations

SMALL_WORDS = frozenset(
    """a about am an and are as at be been but by can could did do does for from had has have he her his how i if in
    into is it its just like me my no not of on or our please she should so tell that the their them then there they
    this to too up us was we were what when where which who will with would you your""".split()
)
"""English words without meaning by themselves, in questions and in claims."""
QUESTION_WORDS = SMALL_WORDS | frozenset(
    """above after again all also any because before being below between both doing down during each few further having
    here hers him more most myself nor now off once only other ours out over own remind same some such than theirs
    these those through under until very what's where's while who's whom why yours""".split()
)
"""English words that show how a question is asked, not its subject."""
CLAIM_WORDS = SMALL_WORDS | frozenset("didn doesn don get got let remember said say told user way".split())
"""English words that do not matter when two claims are compared."""
FUNCTION_WORDS = frozenset(
    # German, French, Spanish, Portuguese, Italian, Russian, a paragraph each
    """
    aber als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem den der des dich die dies
    diese dieser dir doch du durch ein eine einem einen einer eines er es euch euer für gegen hab habe haben hat hatte
    ich ihm ihn ihnen ihr ihre im in ins ist ja kann kein keine mein meine meinem meinen meiner mich mir mit nach nicht
    noch nur ob oder ohne schon sehr sein seine seit sich sie sind so über um und uns unser unter vom von vor war waren
    was wenn wer werde werden wie wir wird wirst wo zu zum zur

    ai as au aux avec avez avons c ce ces cet cette d dans de des du elle elles en est et eu eux il ils j je l la le
    les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas pour qu que qui s sa sans se
    sera ses si son sont suis sur t ta te tes toi ton tu un une vos votre vous y à été être

    al algo con cual de del el ella ellas ellos en entre era eres es esa ese eso esta estaba estamos estar este esto
    estos estoy está están fue ha hay has he la las le les lo los me mi mis muy más ni no nos nuestra nuestro o os para
    pero por porque que quien se sea ser será si sin sobre son soy su sus sí también te tengo tiene tu tus un una uno y
    ya yo él

    ao aos as com como da das de dele do dos e ela elas ele eles em era essa esse esta estava este está estão eu foi
    foram há isso isto já lhe mais mas me meu meus minha minhas muito na nas no nos não nós o os ou para pela pelo por
    que quem se sem ser seu seus sou sua suas são só tem tenho teu tua um uma você vocês à é

    agli ai al alla alle anche che chi ci con cui da dal dalla degli dei del della delle di e ed era gli ha hai hanno
    ho i il in io la le lei li lo loro lui ma me mi mia mie miei mio ne nei nel nella noi non o per però più quella
    questo se sei si sia siamo sono su sua sue sul sulla suo ti tra tu tua tuo un una uno va vi voi è

    а без бы был была были было в вам вас во вот все всё вы да для до его ее её ей ему если есть ещё же за и из или
    им их к как когда кто ли мы меня мне мной мой моя моё мои мы на нам нас не него нее неё нет ни них но о об он она
    они оно от по при с со так там твой то тебе тебя ты у уже что чтобы это этот эта эти я будет буду будут
    """.split()
)
"""Stop words of German, French, Spanish, Portuguese, Italian and Russian."""
FOREIGN_WORDS = (
    FUNCTION_WORDS
    - CLAIM_WORDS
    - {"war", "die", "son", "sale", "tu", "pour", "if", "os", "era", "sera", "hat", "ton", "do", "no", "so", "also"}
)
"""Stop words that show that a text is not English. Words that English has too are left out."""
