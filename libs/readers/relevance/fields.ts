/** A field, such as sport or programming, with words that are frequent in it. */
export interface Field {
  /** The name of the field, as in "about …". */
  label: string;
  /** The name of a thing in this field. A word of this name in the user's description means the whole field. */
  thing: string;
  words: ReadonlySet<string>;
}

const field = (label: string, thing: string, words: string): Field => ({
  label,
  thing,
  words: new Set(words.split(/\s+/)),
});

/**
 * If a text has words of these fields, the name of the subject is probably used as an ordinary word, unless the user's
 * description contains these words.
 */
export const FIELDS: readonly Field[] = [
  field(
    'food and drink',
    'food',
    `fruit fruits juice juicy pie pies cider orchard orchards tree trees peel peeled slice slices sliced recipe recipes bake baked baking cake
    cinnamon caramel sauce vinegar salad lunchbox snack snacks eat eating ate eaten tasty delicious ripe harvest vitamin vitamins crisp crumble
    smoothie marmalade zest citrus banana bananas grape grapes lemon lemons mango pear pears cook cooking cooked dish pasta taco egg eggs nut nuts
    walnut pistachio shrimp oyster oysters clam clams crab flavor flavour cocktail soda breakfast dessert garlic onion chop chopped crust oven kitchen fridge`,
  ),
  field(
    'nature and places',
    'place',
    `river rivers rainforest forest jungle basin tributary mouth wetland wetlands marsh sediment delta county valley canyon mountain mountains
    beach beaches island islands lake sea ocean coast coastal shore bay hike hiking hiked trail trails wildlife species bird birds turtle turtles snail
    snails deforestation tribe tribes indigenous parrot dolphin dolphins flood floods ecosystem waterfall village town province state sunset sunrise sky
    parish blues mississippi nile mekong okavango niger danube rhone brazil brazilian peru`,
  ),
  field(
    'colours and clothing',
    'colour',
    `color colour colors colours red blue green purple yellow pink black white bright dress skirt shirt scarf hair dye dyed paint painted walls nail
    polish shade shades hue lipstick wore wearing flowers roses petals blossom`,
  ),
  field(
    'travel documents and borders',
    'travel document',
    `embassy consulate passport passports immigration immigrant immigrants tourist visa-free border h1b h-1b f1 expired expires overstayed sponsor sponsorship
    residency permit permits schengen citizenship interview student students asylum deported deportation entry travel uscis appointment biometrics
    consular application applicants`,
  ),
  field(
    'science and medicine',
    'scientific term',
    `variant variants covid virus vaccine vaccinated infection infections infected epsilon alpha omicron gamma theorem theory equation derivative
    function math maths mathematics physics calculus formula squared wave waves brain sleep eeg hedge options greeks symbol letter greek omega
    molecule electron electrons orbital atoms protein mutation hospital patients symptoms lab cells chemistry biology`,
  ),
  field(
    'sport',
    'sport',
    `race races racing runner runners running ran marathon metres meters 100m 200m finish athlete athletes coach training workout intervals gym
    match game games team season league goal goals score scored points championship medal olympic olympics track cyclist cycling bike stage
    playoffs quarterback pitcher baseball football soccer basketball hockey tennis stadium arena rugby midfielder defence defense kickoff halftime`,
  ),
  field(
    'work in software teams',
    'way of working',
    `scrum backlog agile retro retrospective standup jira planning velocity stories epics ticket tickets kanban demo sprints stakeholders`,
  ),
  field(
    'programming',
    'programming term',
    `bash zsh script scripts scripting terminal linux unix powershell ssh prompt variable command commands fish posix sh cron shebang sudo chmod
    kernel compile compiler function object class string array oop interpreter runtime`,
  ),
  field(
    'music, film and games',
    'title',
    `song songs album albums band concert lyrics sing singer singing guitar drummer gig tour vinyl track remix movie film films episode season
    actor actress director novel author chapter character characters quest boss level raid dungeon weapon npc lore matrix mod spartan spell
    warrior anime manga comic soundtrack chorus dj`,
  ),
  field(
    'war, police and shooting',
    'target',
    `shooting shooter shot rifle archery arrow arrows bullseye range drone missile missiles strike strikes military army troops special squad
    sniper bomb bombs bombed bombing artillery shelling shelled explosion soldiers war attack attacks police hit force commando operation mortar tank
    shells casing casings bullet bullets ammo shotgun`,
  ),
  field(
    'religion and myth',
    'figure of myth',
    `delphi prophecy prophecies prophet temple goddess gods greek myth mythology ancient priestess tarot card cards reading fortune divination
    warriors warrior queen queens tribe amazonian apollo pythia zodiac bible biblical church prayer scripture eden eve sin forbidden`,
  ),
  field(
    'gaps and differences',
    'difference',
    `between wage pay-gap gender bridge bridging widening widen narrow narrowing closing teeth tooth generation generational year knowledge skills
    skill mind gap-year fill filling attainment achievement inequality difference fence wall door wealth income`,
  ),
  field(
    'schools',
    'school',
    'school schools university college campus class classes teacher homework exam exams semester degree alumni fraternity sorority chapter',
  ),
  field(
    'animals and shells',
    'animal',
    'turtle snail seashell seashells beach sand tortoise hermit crab egg eggs pearl ocean collected collecting',
  ),
];

/** Words that are frequent near the name of a stadium, an arena or a hall. */
export const VENUE_WORDS: ReadonlySet<string> = new Set(
  `stadium arena game games concert tour tickets ticket seats fans crowd kickoff halftime quarterback touchdown giants jets patriots warriors lakers knicks rangers
  playoffs tailgate preseason soccer football baseball basketball hockey show shows band opener encore stage audience setlist singer swift harry direction sang sing singing
  performance performing festival`.split(/\s+/),
);

/** Words of companies, their products and their customers. */
export const COMPANY_WORDS: ReadonlySet<string> = new Set(
  `company companies brand brands ceo cfo cto founder employee employees employer hiring layoffs headquarters hq shareholder shareholders stock stocks
  shares share earnings revenue quarter quarterly q1 q2 q3 q4 profit profits ipo nasdaq nyse investor investors analyst analysts market acquisition acquires
  acquired merger antitrust lawsuit sued sues settlement store stores shop shopping shopped customer customers service support refund refunds refunded
  order orders ordered delivery delivered shipping shipped package warehouse price prices priced pricing discount coupon sale sales deal deals buy bought buying purchase
  purchased account accounts login app apps website site subscription subscribe subscribed membership member plan plans contract bill billing billed charge charged
  fee fees credit debit card cards payment payments checkout cashier aisle returns return warranty update updates updated upgrade release releases
  released launch launches launched announces announced announcement product products device devices model models feature features
  version software hardware phone phones laptop network coverage signal data carrier flight flights airline plane gate boarding luggage baggage
  delayed cancelled canceled miles lounge crew pilot gas station fuel petrol diesel barrel pump refinery oil database cloud server
  servers license licensing license-audit api sdk developer developers enterprise saas vendor outage outages hacked breach privacy policy ads advertising
  sponsor sponsors partnership partners marketing campaign logo retailer retail supplier manufacturer jeans hoodie sweater clothes clothing outlet
  prime kindle alexa aws ec2 s3 lambda router broadband fibre fiber wifi sim esim roaming roam internet mobile android ios windows mac`.split(
    /\s+/,
  ),
);

/** Words directly after a name that show a company. */
export const AFTER_COMPANY: ReadonlySet<string> = new Set(
  `inc inc. corp corp. corporation llc ltd plc co company stock shares store stores app apps account customer customers ceo employees employee card cards
  gift support website site api cloud database flight flights airlines airline air lines station stations gas prime music tv pay watch phone phones
  mobile customer-service service services team headquarters hq products product fresh kindle echo basics web marketplace seller sellers order
  warehouse redcard circle jeans factory outlet checkout debit credit platinum infinite signature software linux erp`.split(
    /\s+/,
  ),
);

/** Words directly after a name that show a place, a person or a thing with the same name. */
export const AFTER_OTHER: ReadonlySet<string> = new Set(
  `county park arena stadium center centre field street st st. avenue ave road river beach valley island islands city town bay mountain bridge theatre theater hall
  pie pies juice cider tree trees orchard sauce blossom peel slice martin variant force sigma blues band year between practice audience group date
  rainforest forest basin bones card-reading triathlon canal planning backlog retro script scripts command prompt race races finish cars car cup
  application applications interview appointment sponsorship status holder holders free on-arrival region coast creek hills lake falls squad rays wave waves
  crush warriors warrior woman women parrot peels grove groves marmalade zest chicken shock casing casings egg`.split(
    /\s+/,
  ),
);

/** Words that are often directly before the name of a company. */
export const BEFORE_COMPANY: ReadonlySet<string> = new Set(
  'at from with via on by @ using use love hate called contacted emailed dear hey thanks'.split(' '),
);

/** Words directly before a name that show that the name is an ordinary noun here. */
export const BEFORE_NOUN: ReadonlySet<string> = new Set(
  `a an the this that these those his her its our my your their some any each every another one two three four five six few many several big small little large
  huge wide green red rotten fresh ripe bright dark soft hard easy moving prime main key sales next first last final daily new old no`.split(
    /\s+/,
  ),
);
