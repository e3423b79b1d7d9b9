"""Words that the prompts of every software project have, and many a note by chance: pure data.

See ``spec/gate.md``. They are compared as those of ``recall.chatter`` are. What is not in ASCII is
apart, since most prompts don't need it.
"""

from __future__ import annotations

_ENGLISH = """
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

_GERMAN = """
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

_SPANISH = """
ancho aplicacion arbol biblioteca bloque borde boton bucle buscar busqueda cadena campo cantidad
carga cargar clase clave cola columna conexion configuracion consola consulta contrasena datos
direccion directorio entrada evento factura fecha filtro formulario fuente hilo icono idioma imagen
indice interfaz lista memoria mensaje mensajes metodo minuto modulo nodo numero objeto ordena
ordenar pagina pantalla paquete pedido peticion plantilla precio producto propiedad respuesta salida
semana servicio servidor sesion suma tabla tamano titulo usuario valor ventana vista
"""

_FRENCH = """
annee arbre bibliotheque bordure boucle bouton chaine champ charge charger chercher cle colonne
colonnes composant composants connexion couleur donnees ecran facture fenetre filtre formulaire
formulaires hauteur heure heures langue largeur memoire messages mot noeud objet paquet police prix
produit propriete quantite recherche repertoire reponse requete requetes reseau semaine serveur
somme sortie tableau tableaux taille titre tri trie trier utilisateur valeur
"""

_PORTUGUESE = """
altura aplicacao arvore banco borda botao botoes busca cadeia carregar chave coluna conexao
configuracao cor dados diretorio endereco fatura fila imagem janela laco largura mensagem mensagens
pacote preco produto propriedade quantidade rede requisicao resposta saida senha servico sessao soma
tabela tamanho tela
"""

_ITALIAN = """
aggiungere aggiungi albero altezza anno applicazione banca bordo bottone campi carattere carica
caricare cartella cerca chiave chiavi ciclo classi clienti coda colonna colori componenti
configurazione connessione dati elenco fattura finestra funzione funzioni giorni giorno icona
immagine immagini indirizzo interfaccia interrogazione larghezza libreria lingua mese messaggi
messaggio metodi minuti modello numeri oggetti oggetto ordina ordinare ordine ordini pacchetto
pagine prezzi prezzo prodotti prodotto proprieta pulsante pulsanti quantita rete ricerca richiesta
riga righe risposta schermo secondi servizio settimana somma stringa tabella titolo utente utenti
valori
"""

COMMON = _ENGLISH + _GERMAN + _SPANISH + _FRENCH + _PORTUGUESE + _ITALIAN

COMMON_BEYOND_ASCII = """
адрес база базу базы библиотека время высота год данные данных дата дате дату даты дерево дней
заголовок загрузи загрузка заказ заказы запрос запроса запросы значение значения изображение
изображения иконка индекс интерфейс картинка картинку класс класса классы клиент клиента ключ ключа
кнопка кнопке кнопки кнопку количество колонка колонку компонент компонента компоненты массив
массива меню месяц метод метода методы минут модуль модуля настройки неделя объект объекта объекты
окна окно ответ отсортируй очередь пакет память папка пароль поиск поле пользователей пользователи
пользователь пользователя поля поток потока приложение приложения размер свойство секунд сервер
сервера сервис сессии сессия сеть событие соединение сообщение сообщения сортировка списка списке
списки список столбец столбца столбцы страница странице страницу страницы сумма таблица таблице
таблицу таблицы товар товары узел фильтр форма форму формы цвет цвета цена цены цикл цикла числа
число шаблон ширина шрифт экран язык
"""
