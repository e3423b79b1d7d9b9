"""Words by what they say of a prompt's subject: pure data. See ``spec/gate.md``.

EMPTY are words of grammar and of conversation, CHORES those of what everybody asks of a coding
agent every day, whatever the project: chatter. COMMON are those that the prompts of every software
project have, and many a note by chance. They are compared with a prompt's words in lower case,
those in Latin letters without diacritics; a word also stands for those whose stem it is. What is
not in ASCII is in ``recall.beyondascii``, since most prompts don't need it.
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


# Parts of file names that every project has: an identifier made of them names nothing.
GENERIC = """
app bin cfg class conf config css csv dist doc docs env exe gitignore go gradle htm html index ini
init java jpg js json jsx lib log main makefile md mjs model mod module package pdf php pkg png py
rb root rs setup sh spec sql src svg tmp toml ts tsx txt types util utils xml yaml yml com org www
http https co
"""

_ENGLISH_COMMON = """
abstract account action activities activity adapter adapters address admin alert algorithm alias
amount analysis angle angles animation animations annotation annotations api app application
applications archive archives area array arrays arrow assert asset async attribute attributes audio
auth authentication authentications authorization authorizations autocomplete autocompletes avatar
average averages await axis backend backup badge badges balance balances banner bar base bash basket
batch bean binaries binary blank block blog bodies body bold book boolean border bot box bracket
breakpoint bucket budget buffer bundle bundles byte cache cached cacheds caches caching cachings
calculate calculates calendar callback camera canvas card carousel cart catalog cell center centre
centres certificate certificates channel chart chat checkbox child children chunk circle circles
cities city class click client clock clone closure closures cloud cluster cms collection collections
component components computer computers concurrencies concurrency condition conditions config
configuration configurations connect constant constraint constructor container containers content
context control cookie cookies coordinate coordinates core count counter countries country coupon
cover cpu crawler credential credentials crud css csv currencies currency cursor customer customers
daemon dailies daily dark dashboard data database databases dataset date deadlock debounce debounces
decode decodes decorator decorators default delay delays design desktop developer developers device
devices dialog dict dictionaries dictionary digit dimension dimensions directive directives disable
disabled disableds disables dns domain dot doubles dropdown duplicate duplicates duration durations
dynamic dynamics earlies early email emoji employee employees empties empty enable enabled enableds
enables encode encodes encoding encodings encryption encryptions endpoint engine engineer engineers
engines enum environment environments event exception exceptions expire expired expireds expires
expiries expiry expression expressions factories factory fallback favicon featured featureds feed
fetch field filename filenames filter fire flag flex flow font footer foreign fork form formatter
formatters formula frame framework frequencies frequency frontend galleries gallery game gateway
gateways generator generators generic generics getter git github global graph grid group guest guide
guides handle handled handleds handler handles handling handlings hardcode hardcodes hash header
heading headings health heap height hidden hide hierarchies hierarchy hook host hover html http
hundred hundreds hyperlink icon id identifier identifiers image images index infinite infinites
inheritance inheritances inline inlines instance instances integer integers interface interfaces
internal internals interval intervals invoice invoices ip iterate iterates iterator iterators java
javascript job join json jwt kernel key keyboard keys keyword label lambda lang language languages
laptop larges latencies latency layout lazies lazy leak libraries library license licenses lifecycle
lifecycles lifetime lifetimes limit link location locations lock logic login logout lookup machine
machines macro mail map markdown mask match math matrix max memories memory menu metadata metric
microservice microservices middleware middlewares migrate migrates migration migrations million
millisecond min minus mobile mobiles mock modal mode model modules money moneys monitor mouse mouses
mutex namespace namespaces narrow native natives navbar navigation navigations nested nesteds
network node notification notifications null nullable nullables object office offices offset online
onlines operator operators optimise optimises optimization optimizations optimize optimizes overflow
overlay overlays overload override overrides owner package packages padding paddings paginate
paginates pagination paginations paint parallel parent parse parsed parseds parser parses partition
partitions password patch pattern payload payment pdf people peoples percent percentage percentages
performance performances permission permissions person phone photo php picture pictures pipeline
pipelines pixel placeholder placeholders platform player plot plugin plus pointer policies policy
poll pool popup port position positions post prefix preview price primaries primary private privates
process processor product profile profiles programmer programmers progress promises prop properties
property protocol prototype prototypes provider providers proxies proxy public python quantities
quantity quarter queries query queue quicksort radio random range ranges rate ratio react record
recursion recursions recursive recursives redirect reducer reducers reference references regex
region register registers registration registrations regression regressions reload remote remotes
render replica replies resize resizes resource resources response responses responsive responsives
retries role root rotate rotates round route router routes routing routings row rule runtime
runtimes sample samples sandbox scale scan schedule scheduler schedulers schedules schema scope
score scraper scroll sdk search secret secure secures selector semaphore semaphores sender sequence
sequences serialize serializer serializers serializes service services session setter shadow shape
share sheet shell shuffle shuffles sidebar signal signature signatures signup size skeleton slider
slot slug smooth snapshot socket sortable sortables source sources spec speed spinner sprite sql
square squares stack stackoverflow static statistic statistics stats storage storages store stream
string struct structure structures stub stylesheet subclass submit substring substrings subtract
suffix sum svg switch sync synchronous syntax system tag target team temperature temperatures
template templates tenant theme thousand thread threshold throttle throttles throw thumbnail ticket
timeline timelines timeout timer timestamp timezone timezones toast toggle toggles token tool
toolbar tooltip total trace track traffic train transaction transactions transform transition
transitions tree trigger trim tuple tuples tutorial tutorials typescript ui unicode unicodes unique
uniques upload url user username usernames utilities utility uuid validate validated validateds
validates validation validations validator validators value values vector video viewport virtual
visibilities visibility visible visibles vue weather web webhook webpage webpages website websites
websocket weeklies weekly wide wider widget width window wizard worker workflow workspace workspaces
xml yaml zip zone zoom
"""

_GERMAN_COMMON = """
abfrage abfragen adresse anfrage anfragen anmeldung ansicht antwort anwendung anzeige anzeigen
ausgabe auswahl baum benutzer bestellung bestellungen betrag bibliothek bild bilder breite datenbank
datum dienst eigenschaft eigenschaften eingabe einstellung einstellungen ereignis farbe farben feld
felder fenster formular fusszeile gedicht hohe jahr kette klassen klick klicken knopf knoten
komponente komponenten konfiguration kopfzeile kunde kunden lade laden ladt listen meldung meldungen
menge methoden minuten modul monat nachricht nachrichten netzwerk nutzer oberflache objekt paket
passwort preis produkt rand rechnung rezept schalter schaltflache schleife schlussel schnittstelle
schrift seiten sekunde sekunden sortiere sortieren sortierung spalte spalten speicher sprache
standard summe symbol tabelle tabellen taste tasten uberschrift uhrzeit verbindung verzeichnis
vorlage warteschlange wert wetter woche zahl zahlen zeichenkette zeit zeitstempel zusammenfuhren
zusammenfuhrt
"""

_SPANISH_COMMON = """
ancho aplicacion arbol biblioteca bloque borde boton bucle buscar busqueda cadena campo cantidad
carga cargar clase clave cola columna conexion configuracion consola consulta contrasena datos
direccion directorio entrada evento factura fecha filtro formulario fuente hilo icono idioma imagen
indice interfaz lista memoria mensaje mensajes metodo minuto modulo nodo numero objeto ordena
ordenar pagina pantalla paquete pedido peticion plantilla precio producto propiedad respuesta salida
semana servicio servidor sesion suma tabla tamano titulo usuario valor ventana vista
"""

_FRENCH_COMMON = """
annee arbre bibliotheque bordure boucle bouton chaine champ charge charger chercher cle colonne
colonnes composant composants connexion couleur donnees ecran facture fenetre filtre formulaire
formulaires hauteur heure heures langue largeur memoire messages mot noeud objet paquet police prix
produit propriete quantite recherche repertoire reponse requete requetes reseau semaine serveur
somme sortie tableau tableaux taille titre tri trie trier utilisateur valeur
"""

_PORTUGUESE_COMMON = """
altura aplicacao arvore banco borda botao botoes busca cadeia carregar chave coluna conexao
configuracao cor dados diretorio endereco fatura fila imagem janela laco largura mensagem mensagens
pacote preco produto propriedade quantidade rede requisicao resposta saida senha servico sessao soma
tabela tamanho tela
"""

_ITALIAN_COMMON = """
aggiungere aggiungi albero altezza anno applicazione banca bordo bottone campi carattere carica
caricare cartella cerca chiave chiavi ciclo classi clienti coda colonna colori componenti
configurazione connessione dati elenco fattura finestra funzione funzioni giorni giorno icona
immagine immagini indirizzo interfaccia interrogazione larghezza libreria lingua mese messaggi
messaggio metodi minuti modello numeri oggetti oggetto ordina ordinare ordine ordini pacchetto
pagine prezzi prezzo prodotti prodotto proprieta pulsante pulsanti quantita rete ricerca richiesta
riga righe risposta schermo secondi servizio settimana somma stringa tabella titolo utente utenti
valori
"""

COMMON = (
    _ENGLISH_COMMON
    + _GERMAN_COMMON
    + _SPANISH_COMMON
    + _FRENCH_COMMON
    + _PORTUGUESE_COMMON
    + _ITALIAN_COMMON
)
