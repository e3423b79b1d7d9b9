"""Words that say nothing of a prompt's subject: pure data. See ``spec/gate.md``.

EMPTY are words of grammar and of conversation, CHORES those of what everybody asks of a coding
agent every day, whatever the project. They are compared with a prompt's words in lower case, those
in Latin letters without diacritics; a word also stands for those whose stem it is. What is not in
ASCII is apart, since most prompts don't need it.
"""

from __future__ import annotations

_ENGLISH = """
cause caused causes become becomes became called known according tend tends extremely along among
whose considered referred safe safely various overall currently recent recently existing
additionally meeting still ahead sound sounds decide decided deciding remind misunderstand
misunderstood mistake mistakes appreciate else hurry busy ready exact obvious weird strange normal
usual usually fully clearly instead later whenever stuff everyone brief briefly confused confusing
confuse interested important necessary preferably thing bored tired coffee a about above actually
after again ago ah aha all almost already alright also although always am an and another any
anybody anymore anyone anything anyway anyways are around as asap aside ask asked asking at away
back bad basically be because been before began begin being believe below best better between bit
both brb btw but by bye came can cannot care carry certain certainly cheers come coming completely
cool correct could course cya damn day days definitely did didn different do does doesn doing don
done dont down due dunno during each easily easy either enough especially etc even ever every
everybody everything everywhere exactly excellent fair fairly far feel few fine first five for
forget forgot four from front further gave generally get gets getting give given gives giving glad
go goes going gone gonna good goodbye got gotcha great ha haha had half hang happen happened
happening hard has hasn have haven having he hello help helped helpful helps hence her here hers
hey hi him his hm hmm hold honest honestly hope how however huh i idea ideas idk if ill im imo in
indeed into is isn it its itself ive just k keep keeps kept kind kinda know knows last late lately
least less let lets like likely little ll lmao lol long longer look looked looking looks lot lots
love m made make makes making many matter may maybe me mean means meant mention mentioned might
mind mine moment more morning most mostly much must my myself n nah near nearly need needed needs
never new next nice night no nobody none nope nor not nothing now nowhere nvm obviously of off
often oh ok okay old omg on once one ones only onto oops or other others otherwise ought our ours
out over own pardon part particular past perfect perfectly perhaps please pls plz point possible
pretty probably problem properly put quick quickly quite rather re really reason right rn s said
same saw say saying says second see seem seems seen sense several shall she should shouldn similar
simply since sir so some somebody somehow someone something sometimes somewhat somewhere soon sorry
sort such super supposed sure surely t ta take taken takes taking talk talked talking tell tells
than thank thanks that the their theirs them themselves then there these they things think thinking
third this those though thought three through thus thx til time times tl dr to today together told
tomorrow tonight too took totally toward towards tried true truly try trying turn turned two ty u
ugh um under understand understood unfortunately unless until up upon us use used useful uses using
ve very via wait waiting wanna want wanted wants was wasn way ways we welcome well went were weren
what whatever when where wherever whether which while who whoever whole whom why will wish with
within without won wondering wonder word words worry would wouldn wow wrong wtf ya yay yeah yep yes
yesterday yet yo you your yours yourself yup d didnt doesnt isnt cant wont thats whats hows wheres
whos youre theyre ain aren couldn mustn afternoon agree apologies awesome beautiful bravo brilliant
congrats congratulations curious evening fantastic folks friend guess guys happy impressive
interesting kindly lovely neat ooh phew promise proud relax respect seriously silly splendid
suppose terrible terrific wonderful worse worst yikes zero six seven eight nine ten minute minutes
hour hours week weeks month months year years short big small bigger smaller shorter larger large
simple simpler nicer cleaner clearer clear able unable easier cleverer quickest faster slower slow
fast slowly opinion suggestion suggestions recommend recommended suggest advice thoughts question
questions answer answers confident reply respond
"""

_GERMAN = """
ab aber alle allem allen aller alles andere anderen anderer anderes auch auf aus bei beide beiden
beim besser beste besten bis bist bitte bleib brauche brauchen da dabei dafur daher damit danach
danke dann dar daran darauf daraus darf darin das dass davon dazu dein deine deinen dem den denke
denken denn der des deshalb dessen dich die dies diese diesem diesen dieser dieses doch dort drei
du durch durfen eben egal eigentlich ein eine einem einen einer eines einfach einmal einverstanden
einzige er erst erste ersten erstmal es etwa etwas euch euer falsch fertig findest frage fragen
frei fur ganz gar geben gegen geh gehen geht gemacht genau genug gerade gerne gern gestern gesagt
gib gibt glaube gleich gross grosse gut gute guten gutes hab habe haben hallo halt hat hatte hatten
heute hier hilfe hilf hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer immer ins irgendwie
ist ja je jede jedem jeden jeder jedes jetzt kann kannst kein keine keinen klar klasse klein kleine
konnen konnte konnten konntest kurz kurzer langer lange langsam lass lassen lieber machen mach
macht machst mache mal mehr mein meine meinem meinen meiner meinst mich mir mit mochte morgen
morgens muss mussen musst nach nacht nachste nachsten naturlich nein nee neu neue nicht nichts nie
noch nochmal nochmals nun nur ob oben oder oft ohne prima richtig sag sagen scheint schnell schon
schoen sehen sehr sei sein seine seinem seinen seiner seit selbst sich sicher sie siehe sind sofort
sogar soll sollen sollte sollten sonst spater statt steht stimmt stunde stunden tage toll trotzdem
tschuss tun tut uber uberall und ungefahr uns unser unsere unter verstanden verstehe versuch
versuche viel viele vielen vielleicht vom von vor vorbei wann war waren warte warten warum wegen
weil weiss weiter weitere weitermachen welche welchem welchen welcher welches wem wen wenig weniger
wenn wer werde werden wessen wie wieder wieso wieviel willst wir wird wirklich wirst wo wohl wollen
wollte wurde wurden worden zu zuerst zum zur zuruck zusammen zwar zwei zwischen
"""

_SPANISH = """
acuerdo adelante ademas adios ahi ahora al algo alguien algun alguna algunos alli alto ambos ante
antes aquel aquella aqui asi aun aunque ayuda ayudame bien bueno buena buenas buenos cada casi
claro como con conmigo contra cosa cosas creo cual cuales cualquier cuando cuanta cuanto cuantos
cuantas dale de debe debo del demas dentro desde despues dia dias dice dime donde dos e el ella
ellas ellos en encima entonces entre era eran eres esa esas ese eso esos espera esta estaba estado
estan estar estas este esto estos estoy exactamente facil fue fueron ser gracias gran grande gusta
haber habia hace hacen hacer haces hacia haga hago han hasta hay haz hazlo hecho hemos hola hora
hoy igual incluso ir la las le les listo lo los luego mas mayor mejor menos mi mia mientras mis
mismo misma momento mucha mucho muchos muy nada nadie ni ningun ninguna noches nos nosotros nuestra
nuestro nunca o otra otras otro otros para parece parte pasa pero perdon perfecto poco pocos
podemos podria podrias por porque porfa favor primera primero puede puedes puedo pues que queria
quien quienes quiere quieres quiero quiza quizas sabe sabes se sea segun segundo seguro sera si
siempre siga sigue sin sino sobre solo somos son soy su sus tal tambien tampoco tan tanto tarde te
tengo tenemos ti tiene tienen tienes toda todas todavia todo todos tres tu tus ultimo ultima un una
unas uno unos usted va vale vamos van vas vez veces ver y
"""

_FRENCH = """
aide aider aie ainsi alors apres attends au aucun aucune aujourd hui aussi autre autres avais avait
avant avec avez avoir avons beaucoup bon bonjour bonne bonsoir c car ce ceci cela celle celles
celui ces cet cette ceux chaque chez chose choses combien comme comment compris contre abord accord
dans deja demain dernier derniere deux devrait dire dis dit dois doit donc elle elles encore enfin
ensuite est et etaient etait etant ete etes etre eu eux exactement facile faire fais fait faites
faut fois grand ici il ils j jour jours jusqu juste l leur leurs lors lui ma madame maintenant mais
meme memes merci mes mieux moi moins monsieur ne non notre nous nouveau nouvelle ont ou oui oups
par parce parfait parfois pas pendant petit petite peu peut peux plait plutot pour pourquoi
pourrais pourrait pouvez premier premiere pres puis qu quand quel quelle quelles quels quelque
quelques qui quoi sa sais salut sans savoir ses seul sont sous souvent suis sur surtout tant tard
tel tellement tes toi ton toujours tous tout toute toutes trois trop une vais vers veut veux voici
voila voir vois vos votre vous vraiment vrai arriere sorte idee
"""

_PORTUGUESE = """
com em os acho agora ainda ajuda alem alguem algum alguma alguns ali amanha ao aos apenas apos
aquela aquele aquilo assim ate atras bem boa boas bom certo coisa coisas comigo dai deixa dela dele
deles demais depois dessa desse deste disso disto diz ela elas ele eles entao eram errado essa
essas esse esses estamos estao estava estes estou exatamente falta faz fazer feito ficou foi foram
gente hoje isso isto legal lhe logo mesma mesmo meu meus minha minhas muita muito muitos na nao nas
nela nele nem nenhum nessa nesse nesta neste ninguem noite nossa nosso nova novo numa obrigada
obrigado oi ola onde ontem otimo outra outras outro outros pela pelo pelos perfeito pode poderia
porem posso pouco pra precisa preciso primeira primeiro quais qual qualquer quando quanto quantos
quase quem quer quero segunda seja sem sempre sendo seu seus sim somente sou sua suas talvez tambem
tao tchau tem temos tenho ter tinha tua tudo uma umas vai vao vezes voce voces vou
"""

_ITALIAN = """
adesso alla allora altra altre altri altro anche ancora avanti basta bene buona buongiorno buono
capito che chi ciao cio cosi cui dal dalla degli dei della delle dello di dopo dove ecco ed erano
essere fa fai fare fatto gia giusto gli grazie hai hanno ho invece lei loro mai male meglio meno
mie mio molto nel nella nelle nessuno niente noi nostro nulla ogni ora per perche perfetto piu poi
possibile prego primo proprio puoi quale quali quanti quella quelli quello questa queste questi
questo riprova scusa sembra senza sia siamo sono sopra sta stai stata stato stesso sue sul sulla
suo tra troppo tuo tutta tutte tutti tutto vado viene voglio volta mille continua continuare
"""

_OTHERS = """
aub jij ik het een niet goed verder nog eens bedankt dank graag tak mycket hej takk kiitos kylla
dziekuje prosze dobrze dalej tesekkurler tesekkur evet hayir devam lutfen tamam dekuji diky ano
hvala
"""

_ENGLISH_CHORES = """
plan ship shipped double single pass passes passing passed statement statements print prints
printed case cases dependency dependencies install installed installing server readme changelog
entry entries bump button loop parameter parameters argument arguments return returns logging repo
console terminal screen screenshot local locally red green tab tabs separate english german french
spanish italian russian chinese japanese korean arabic portuguese dutch table version versions
browser compile compiles compiling debug push pushed merged release rewrite touch refactoring
documentation style color colour background add added additional adjust apply approach approve
bottom branch break broke broken bug bugs build builds call change changed changes character check
checked checks choose clean cleanup close code column combine command comments commit commits
compare complete confirm continue convert copy crash create current cut delete deleted deploy
describe detail details diff directory document docstring draft drop edit edited end error errors
example examples execute explain explained export extract fail failed failing fails failure feature
file files fill finish finished fix fixed fixes folder follow format found function functions
generate helper hint ignore implement implemented implementation import imports improve include
indent input insert issue issues item items joke leave left letter level line lines lint linter
list load log logs main merge message method middle missing module move name names note notes
number numbers open option options order output page paragraph paste path piece pick place program
project prompt pull quote quotes quotation read readable redo refactor reformat remove removed
rename repeat replace rerun report repository request reset restart restore result results resume
retry revert review rid rollback run running runs save script section select sentence set setup
shorten show shown side simplify skip snippet solution solve space split stage start started state
status step steps stop summarise summarize summary swap task tasks test tested tests text title top
translate type typo undo uncommitted unit unused update updated upgrade upper lower uppercase
lowercase capitalise capitalize variable variables verify view walk warning warnings whitespace
work worked working works write writing written wrote wrap effect previous following rest
"""

_GERMAN_CHORES = """
ander andern anderung anderungen ausfuhren ausfuhr fuhr fuhre baue benenne benennen umbenennen
datei dateien einfugen fehler funktion funktionen hinzufugen fugen fuge fehlgeschlagen kaputt
kommentar kommentare kommentiere korrigiere korrigieren kopiere kurze kurzen loesch losch losche
loschen entferne entfernen mergen namen nimm ordner pruf prufe prufen rucksetzen ruckgangig schreib
schreibe schreiben speichern starte starten neustarten teste testen teil typ uberpruf uberprufe
umschreiben variablen vereinfache verschieb verschiebe wiederhole wiederholen zeig zeige zeigen
zeile zeilen erklar erklare erklaren ergebnis letzte letzten zeichen satz absatz wort worte
"""

_SPANISH_CHORES = """
abre agrega anade archivo archivos arregla arreglar arreglalo borra borrar borralo cambia cambiar
cambios cambiaste carpeta codigo comenta comentario comentarios comprueba compila continuar copia
corto corta corrige corregir crea crear deshaz ejecuta ejecutar elimina eliminar errores escribe
escribir explica explicar explicarlo explicame falla fallo funcion funciona funciones guarda
intenta intentalo linea lineas mueve muestra muestrame nombre orden prueba pruebas quita quitar
renombra repite resumen revisa revierte siguiente
"""

_FRENCH_CHORES = """
ajoute ajouter annule changer changements commentaire commentaires continuer copie corriger court
cree creer deplace dossier ecris ecrire efface enleve erreur erreurs essaie essaye explique
expliquer fichier fichiers fonction fonctions fonctionne ligne lignes lance lancer lis marche
modifie montre nom ouvre recommence relance relancer remplace renomme reprends resultat retire
reviens revenir simplifie suivant suivante supprime supprimer termine texte verifie
"""

_PORTUGUESE_CHORES = """
adiciona adicionar altera apaga apagar arquivo arquivos arruma conserta corrigir cria criar curto
curta desfaz erro erros escreve escrever executa falha funcao funcoes linha linhas mostra muda
mudancas mudou mude nome pasta proximo proxima remover renomeia repete reverte resumo roda rodar
rode tenta testes variavel verifica
"""

EMPTY = _ENGLISH + _GERMAN + _SPANISH + _FRENCH + _PORTUGUESE + _ITALIAN + _OTHERS
CHORES = _ENGLISH_CHORES + _GERMAN_CHORES + _SPANISH_CHORES + _FRENCH_CHORES + _PORTUGUESE_CHORES

_RUSSIAN = """
а без более больше будем будет будешь будто буду будут бы был была были было быть в вам вами вас
ваш ваша ваше ваши вдруг ведь верно весь вместо во вообще вот вы всё все всего всегда всей всем
всеми всему всех всю где да давай давайте дальше два две дела делать делай делает день для до
доброе добрый должен должна должно должны думаешь думаю другая другие другим других другое другой
другом другую его ее её ей ему если есть ещё еще ж же за зачем здесь здравствуйте и из или им
именно ими иногда их к каждый каждая каждое кажется как какая какие каким каких какого какое какой
каком какому какую ко когда конечно которая которого которое которой котором которому которую
которые который которым которых кроме кто куда ли либо лишь лучше любой между меня мне многие много
могла могли мог могу может можешь можно мой моя моё мои мы на над надо назад нам нами нас наш наша
наше наши не него неё нее ней некоторые нельзя нём нем нему непонятно нет неужели ни нибудь никак
никто ним ними них ничего но ну нужен нужна нужно нужны о об оба обе один одна одно одной одну
около он она они оно опять от отлично очень перед по под подожди пожалуйста позже пока понял поняла
понятно после потом потому почему почти правда правильно прекрасно привет при про просто против
прошу пусть раз разве рано ранее с сам сама сами само самого самое самой самом самые самый свой
своего своей своему своём свои своих свою себе себя сегодня сейчас сколько слишком сначала снова со
собой совсем согласен спасибо сразу стал стала стали стало столько стоп супер так также такая такие
таким таких такого такое такой такую там твой твоя тебе тебя тем теперь тех то тобой тогда того
тоже той только том тому тот точно три тут ты у уже угу устраивает хватит хорошо хотел хотя хочешь
хочу час часа чего чей чем чему через что чтобы чуть чьё эта эти этим этих это этого этой этом
этому этот эту я ага являлась является являются называется
"""

_ARABIC = """
في من إلى الى على عن مع هذا هذه ذلك تلك هو هي هم هما أنا انا أنت انت نحن ما ماذا متى أين اين كيف
لماذا هل أي اي أية كم لا نعم لم لن ليس ليست كان كانت يكون تكون قد لقد ثم أو او و أن ان إن أنه انه
إذا اذا لو كل بعض غير بين عند عندما حيث كما التي الذي الذين اللذان قبل بعد حتى أيضا ايضا فقط جدا
هنا هناك الآن الان شكرا جزيلا عفوا مرحبا أهلا اهلا حسنا طيب تمام صحيح خطأ رائع ممتاز جيد فضلك رجاء
لي لك له لها لهم لنا منه منها فيه فيها عليه عليها به بها بهذا وهو وهي وما ولا الذى كيفية يمكن يمكنك
هلا استمر تابع توقف انتظر لحظة نفس آخر أخرى اخرى مرة أكثر اكثر أقل اقل كثيرا ولكن لكن بدون تم يتم
اسم عدد قام قامت
"""

_RUSSIAN_CHORES = """
верни вернуть выполни добавь добавить допиши запусти запустить запускай измени изменить изменил
изменила изменения исправь исправить исправил закоммить код коммит комментарий комментарии короче
коротко напиши написать объясни объяснить объяснишь откати откатить отмени открой ошибка ошибки
ошибку падает переделай переименуй перезапусти переименовать перепиши переписать повтори подробнее
покажи показать поменяй последний последнюю последняя последнее предыдущий предыдущую проверь
проверить продолжай продолжить работает работал имя сделай сделать сделал сделаем скажи сломалось
следующий следующая следующее следующую строка строки строку строчку строчки сборка собери скопируй
сохрани тест тесты тестов убери убрать удали удалить упрости файл файла файлах файлов файлы функция
функции функцию переменную переменная попробуй покороче поясни уточни
"""

_ARABIC_CHORES = """
احذف أضف اضف اكتب اشرح اشرحه غيّر شغل شغّل أعد اعد تشغيل اختبار اختبارات الاختبار الاختبارات السطر
سطر الأخير الاخير الملف الملفات ملف كود الكود الخطأ أصلح اصلح صحح عدل ألغ الغ افتح أظهر اظهر أرني
ارني انسخ نفذ راجع تحقق حاول مجددا أسرع اختصر الدالة المتغير
"""

EMPTY_BEYOND_ASCII = _RUSSIAN + _ARABIC
CHORES_BEYOND_ASCII = _RUSSIAN_CHORES + _ARABIC_CHORES

# Parts of file names that every project has: an identifier made of them names nothing.
GENERIC = """
app bin cfg class conf config css csv dist doc docs env exe gitignore go gradle htm html index ini
init java jpg js json jsx lib log main makefile md mjs model mod module package pdf php pkg png py
rb root rs setup sh spec sql src svg tmp toml ts tsx txt types util utils xml yaml yml com org www
http https co
"""

# Chinese and Japanese: what is taken out of a run of characters, the longest first; a single
# character only if it is hardly part of longer words. Hiragana is grammar as a whole.
RUNS = """
バージョン ブランチ 导致 产生 来自 表示 包括 提供 属于 作为 关于 由于 根据 通过 进行 以及 之间 一直
总是 经常 帮我 看看哪里 哪里错 一本 先别 别动 这样改 这样吧 就这样 前の いい感じ 調子 美味しい
治し方 作り方 やり方 使い方 没有 我们 你们 他们 她们 它们 自己 这个 那个 哪个 这些 那些 哪些 这里
那里 哪里 这样 那样 怎样 怎么 怎么样 怎么办 什么 为什么 多少 几个 何时 如何 是否 但是 因为 所以
如果 虽然 然后 而且 并且 或者 还是 可以 可能 能够 需要 应该 必须 谢谢 多谢 感谢 你好 您好 早上好
晚安 再见 好的 好了 好吧 好像 不行 不对 对的 没错 没事 没问题 没关系 当然 确定 明白 知道 知道了
觉得 认为 看看 看一下 看起来 说说 说明 解释 问题 回答 告诉 想想 想一下 等等 等一下 一下 一点 一些
一个 一种 一样 一遍 一次 两个 三个 第一 第二 第三 第一个 第二个 上面 下面 里面 之前 之后 以前 以后
现在 刚才 刚刚 今天 明天 昨天 时候 时间 已经 正在 开始 继续 接着 接下来 下一步 下一个 上一个 最后
最后一 最后一段 最后一行 首先 完了 完成 做完 使用 回去 回来 出来 起来 只是 全部 所有 都要 每个 其他
其它 另外 另一个 同样 相同 不同 简单 复杂 容易 短点 短一点 长一点 简单点 改短 太好了 很好 非常 真的
完美 不错 可以了 不要 不用 停止 取消 算了 删掉 删除 去掉 改成 改回 改变 更改 修改 改动 修复 换个
换成 名字 重命名 加上 添加 增加 写一个 重写 跑一下 跑一遍 运行 重跑 重新 再跑 执行 测试 检查 试试
试一下 再试 打开 关闭 显示 提交 推送 合并 撤销 恢复 还原 回滚 文件 代码 函数 变量 这段 那段 这行
那行 注释 错误 报错 失败 成功 结果 内容 项目 版本 意思 方法 办法 地方 东西 事情 情况 部分 哪一年
哪年 多大 多长 什么时候 被称为 称为 叫做 名为 一度 二度 最後 最初 今日 明日 昨日 何時 何故 全体
両方 片方 同様 上記 下記 場合 方々 続行 続き 変更 修正 追加 削除 書き直 実行 再実行 動作 動か 動き
確認 説明 詳細 見せ 了解 承知 完璧 素晴 大丈夫 問題 本当 本当に 疲れ お願 簡単 複雑 失敗 名前 段落
言葉 結果 作成 必要 以上 以下 以外 一番 一つ 二つ テスト ファイル エラー コード コメント コミット
プッシュ リネーム バグ ビルド オーケー ちょっと もう 学ぶ 方が 利用 紹介 的 了 是 在 和 与 及 或 也
都 就 还 又 再 不 没 很 太 最 我 你 您 他 她 它 这 那 哪 谁 吗 呢 吧 啊 呀 哦 嗯 啦 嘛 把 被 给 让
从 到 为 以 于 之 其 所 而 但 几 要 请 想 说 看 做 改 删 换 写 跑 停 加 修 查 每 用 只 有 能 会 得
着 过 个 何 私 僕 君 誰
"""

# Korean: whole words, and the endings that may be taken off others.
HANGUL = """
그 이 저 그것 이것 저것 여기 거기 저기 뭐 뭘 무엇 무엇을 무슨 왜 어떻게 어떤 어디 언제 누가 누구
얼마나 몇 네 예 응 아니 아니요 아니야 그래 그래요 그럼 좋아 좋아요 좋습니다 좋다 고마워 고마워요
고맙습니다 감사 감사합니다 감사해요 안녕 안녕하세요 미안 죄송 알겠 알겠어 알겠습니다 맞아 맞아요
틀렸 틀렸어 잠깐 잠깐만 기다려 다시 또 더 덜 좀 조금 많이 너무 아주 매우 정말 진짜 아직 벌써 이미
지금 오늘 내일 어제 방금 아까 나중 나중에 먼저 다음 마지막 처음 계속 계속해 그만 멈춰 취소 되돌려
되돌려줘 돌려 돌려줘 해 해줘 해주 해주세요 해요 해봐 해라 하자 하고 하는 하기 하면 하지 한 할
합니다 했어 했던 하세요 했어요 하다 줘 주세요 둘 둘다 다 모두 전부 하나 두 세 첫 첫번째 두번째 것
거 게 걸 걸로 그걸 그걸로 이걸 수 있 있는 있어 있습니다 있나요 없 없는 없어 없습니다 없이 대해 대한
위해 위한 통해 보여 보여줘 알려 알려줘 말해 말해줘 써 써줘 쓰기 사용 사용해 사용하여 사용하기
사용하는 만들 만들기 만들어 만들어줘 되 되는 돼 됐어 됐어요 된 안 못 안돼 왜안돼 잘 잘됐 짧게 길게
간단히 간단하게 설명 설명해 설명해줘 자세히 테스트 테스트를 실행 실행해 실행해줘 삭제 삭제해 지워
지워줘 추가 추가해 추가하기 수정 수정해 고쳐 고쳐줘 변경 바꿔 바꿔줘 바꿨어 이름 파일 파일을 코드
함수 변수 에러 오류 줄 확인 확인해 커밋 푸시 빌드 문제 방법 법 결과 내용 부분
"""
HANGUL_ENDINGS = """
은 는 이 가 을 를 의 에 도 로 와 과 만 에서 으로 에게 부터 까지 처럼 보다 이나 라도 하고 하기 하는
하여 하면 하지 하다 하세요 합니다 합니까 하자 한 할 해 해요 해줘 해주세요 했어 했어요 했던 했다
했습니다 되는 되나요 됩니다 된 되어 인가요 입니까 입니다 이다 이며 이고 인 들 들을 들은 들의 들이
었던 였던 었다 였다
"""
