/** A name that companies share with ordinary things. */
export interface Homonym {
  /** Words that are frequent beside the company. */
  company: ReadonlySet<string>;
  /** The other things, with words that are frequent beside them. */
  others: readonly { thing: string; words: ReadonlySet<string> }[];
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean));
const homonym = (company: string, others: Record<string, string>): Homonym => ({
  company: words(company),
  others: Object.entries(others).map(([thing, text]) => ({ thing, words: words(text) })),
});

/** Names that are often meant otherwise. Other names are judged by the general signals alone. */
export const HOMONYMS: ReadonlyMap<string, Homonym> = new Map([
  [
    'apple',
    homonym(
      'iphone iphones ipad mac macbook imac ios macos watchos airpods siri icloud itunes wwdc cook cupertino vision m1 m2 m3 m4 aapl appstore facetime imessage homepod carplay safari genius',
      {
        'the fruit':
          'fruit pie pies juice cider orchard orchards tree trees crisp crumble sauce cinnamon bake baked peel peeled caramel picking fuji gala honeycrisp bramley worm teacher bite bites toffee slices tart core pear pears',
        'the city of New York': 'big manhattan nyc',
      },
    ),
  ],
  [
    'target',
    homonym(
      'redcard circle tgt aisle cartwheel bullseye-store minneapolis walmart cashier starbucks store stores run haul clearance dollar spot',
      {
        'an aim or a goal':
          'audience date goal goals sales emissions growth inflation reach reached meet met hit missed missile missiles military practice shooting archery arrow range price-target moving heart drone strike strikes net-zero language gene molecule attack',
      },
    ),
  ],
  [
    'delta',
    homonym(
      'airline airlines flight flights flight-attendant plane airport atl gate boarding luggage baggage skymiles miles medallion lounge crew upgrade layover seat airbus boeing united southwest jetblue delayed cancelled comfort first-class',
      {
        'the virus variant':
          'variant covid omicron vaccine vaccines strain cases infection infections pandemic virus',
        'a river delta': 'river mississippi nile mekong niger okavango wetlands sediment basin blues swamp',
        'the Greek letter': 'epsilon gamma theta sigma alpha force sorority fraternity hedge options greek',
        'a difference': 'time change between frame compression',
      },
    ),
  ],
  [
    'oracle',
    homonym(
      'database databases cloud sql plsql java ellison orcl erp netsuite peoplesoft siebel exadata oci licensing audit license cerner weblogic dba server mysql solaris tiktok apex fusion',
      {
        'a seer of myth':
          'delphi prophecy temple tarot card cards deck greek myth apollo priestess priest ancient goddess divination wisdom reading matrix neo',
        'a stadium': 'arena park giants warriors stadium ballpark',
      },
    ),
  ],
  [
    'gap',
    homonym(
      'jeans hoodie sweater clothes clothing store stores outlet banana republic old navy athleta denim sale khakis factory gift sweatshirt shirt shirts tee baby yeezy mall',
      {
        'a difference or a hole':
          'between wage pay gender bridge wide widening narrow closing teeth tooth generation year knowledge skills attainment fence wall mind platform achievement market wealth income data coverage',
      },
    ),
  ],
  [
    'orange',
    homonym(
      'sim esim roaming network mobile broadband fibre fiber telecom operator 4g 5g wifi signal data contract bill customer mobiles france livebox sosh recharge coverage ee telco',
      {
        'the fruit':
          'fruit juice peel zest marmalade slice sliced squeezed citrus vitamin chocolate chicken tree grove',
        'the colour':
          'color colour dress shirt bright sunset sky paint hair lipstick cat red yellow blue pumpkin',
        'the place': 'county california nj lodge',
      },
    ),
  ],
  [
    'visa',
    homonym(
      'mastercard amex card cards debit credit payment payments checkout contactless merchant merchants fraud paypal fees transaction transactions swipe chargeback bank interchange shares paywave stablecoin',
      {
        'a travel document':
          'embassy consulate passport immigration tourist h1b h-1b student students work permit schengen application applications apply applied applying approved approval denied rejected stamp expired expires overstay sponsor sponsorship travel uscis interview border entry arrival abroad',
      },
    ),
  ],
  [
    'sprint',
    homonym(
      't-mobile tmobile verizon att at&t carrier network coverage signal lte 4g 5g phone phones plan unlimited data contract bill bars customer towers iphone',
      {
        'a short race':
          'race run runner runners running finish 100m 200m metres meters medal olympic triathlon cycling bike track interval intervals hill gym training workout athlete ran cup car',
        'a span of work':
          'planning backlog scrum agile jira retro retrospective standup velocity stories goal demo review tickets team',
      },
    ),
  ],
  [
    'shell',
    homonym(
      'petrol gas fuel station stations oil refinery diesel bp exxon chevron barrel drilling pump lng climate emissions crude offshore nigeria energy rewards dividend v-power garage',
      {
        'a computer program':
          'bash zsh script scripts scripting terminal linux unix command commands ssh prompt fish posix reverse powershell cron root',
        'a husk or a seashell':
          'egg eggs turtle snail tortoise crab nut nuts walnut beach sea seashell oyster clam taco pasta pistachio pearl crack cracked',
        ammunition: 'artillery mortar casing casings tank shotgun war troops fired shock',
      },
    ),
  ],
  [
    'amazon',
    homonym(
      'prime aws alexa kindle bezos jassy delivery delivered order ordered package packages warehouse seller sellers fba echo basics shipping ec2 s3 cart review reviews refund driver wishlist ebook subscribe fire twitch',
      {
        'the rainforest':
          'rainforest forest river jungle basin deforestation brazil brazilian peru tribe tribes indigenous trees burning wildfires species parrot dolphin ecuador colombia canoe',
        'the women of myth': 'warrior warriors greek myth queen hippolyta wonder themyscira',
      },
    ),
  ],
  [
    'jaguar',
    homonym(
      'car cars xf xj xe f-type f-pace i-pace suv ev dealer dealership v8 engine drive rover land tata rebrand leather luxury',
      {
        'the animal': 'jungle cat cats zoo rainforest wildlife species animal prey spotted cub cubs habitat',
        'the team': 'jacksonville nfl game season touchdown quarterback',
      },
    ),
  ],
  [
    'mustang',
    homonym('ford gt v8 engine car cars mach-e coupe convertible shelby horsepower drive driving', {
      'the horse': 'horse horses wild herd ranch saddle nevada rider',
      'the aircraft': 'p-51 aircraft pilot squadron',
    }),
  ],
  [
    'dove',
    homonym('soap shampoo deodorant body wash lotion conditioner unilever skin beauty moisturizer', {
      'the bird': 'bird birds nest peace white feather feathers hunting pigeon coo wings',
      'a form of "dive"': 'into deep deeper in headfirst',
    }),
  ],
  [
    'tide',
    homonym('detergent laundry pods pod washing stain stains wash clothes procter', {
      'the tide of the sea':
        'high low ocean beach sea waves moon surf turn turning turned rising pool pools crimson',
    }),
  ],
  [
    'subway',
    homonym('sandwich sandwiches footlong sub subs meatball eat lunch bread franchise cookies turkey tuna', {
      'the underground railway':
        'train trains station platform line nyc mta commute ride tunnel metro manhattan brooklyn riding stop',
    }),
  ],
  [
    'java',
    homonym(
      'jdk jvm spring code coding class method developer oracle programming maven gradle kotlin bytecode',
      { 'the island or the coffee': 'island indonesia jakarta coffee volcano cup brew bali sumatra' },
    ),
  ],
  [
    'python',
    homonym('pip django flask code script programming developer pandas numpy library import module async', {
      'the snake': 'snake snakes reptile everglades burmese zoo skin feet pet venom constrictor',
      'the comedians': 'monty holy grail',
    }),
  ],
  [
    'puma',
    homonym('shoes sneakers shirt kit jersey adidas nike trainers sportswear suede cleats', {
      'the animal': 'cat mountain lion wildlife zoo animal sighting cub',
    }),
  ],
  [
    'galaxy',
    homonym('samsung s24 s23 s22 note fold flip watch buds tab android phone phones ultra', {
      stars: 'star stars milky way andromeda telescope universe space nasa spiral black hole astronomers',
      'a film or a team': 'guardians quest la hitchhiker hitchhikers guide',
    }),
  ],
  [
    'chase',
    homonym(
      'bank banking account sapphire card cards credit freedom checking jpmorgan branch atm overdraft fraud mortgage',
      { 'running after something': 'police car high-speed dog dreams cut scene paper pursuit clouds thrill' },
    ),
  ],
  [
    'square',
    homonym('payments reader pos terminal cash jack dorsey block merchant invoice checkout point-of-sale', {
      'a shape or a place':
        'root feet foot meters metres miles times trafalgar town red dance shape triangle circle garden',
    }),
  ],
  [
    'stripe',
    homonym(
      'api payments payment checkout billing invoice webhook webhooks subscription connect merchant payout collison radar startup',
      { 'a line of colour': 'shirt stripes red white blue zebra tiger paint racing dress pattern' },
    ),
  ],
  [
    'slack',
    homonym(
      'channel channels workspace message messages app bot integration salesforce teams dm huddle notifications emoji thread',
      { looseness: 'cut some rope line slacking off pick up taking' },
    ),
  ],
  [
    'notion',
    homonym('workspace page pages database template templates app ai notes wiki docs calendar', {
      'an idea': 'that reject rejected disabuse silly vague preconceived romantic whole any dispel absurd',
    }),
  ],
  [
    'zoom',
    homonym('call calls meeting meetings webinar video background host mute muted link app remote', {
      'an enlargement or speed': 'lens camera in out optical 10x 20x past zoom-zoom kawasaki',
    }),
  ],
  [
    'nest',
    homonym('thermostat camera doorbell google hub home protect wifi smart', {
      'a nest of birds': 'bird birds egg eggs empty tree wasp wasps hornet eagle robin chicks egg baby',
    }),
  ],
  [
    'echo',
    homonym('alexa dot amazon speaker show smart skill', {
      'a sound': 'sound room chamber chambers cave voice canyon location back sentiments',
    }),
  ],
  [
    'ring',
    homonym('doorbell camera amazon alarm footage porch security app', {
      'jewellery or a sound':
        'diamond wedding engagement gold finger proposal phone bell lord lords boxing boxer onion',
    }),
  ],
  [
    'bolt',
    homonym('ride rides driver drivers scooter taxi uber app fare estonia', {
      'a bolt': 'lightning nut nuts screw usain door thunder crossbow wrench',
    }),
  ],
  [
    'meta',
    homonym('facebook instagram whatsapp zuckerberg quest llama threads ads oculus metaverse', {
      'the word "meta"': 'so current game gaming joke analysis tags tag very how deck',
    }),
  ],
  [
    'ford',
    homonym(
      'truck trucks f-150 f150 bronco mustang explorer focus fiesta ranger transit dealer dealership engine suv ev',
      { 'a person': 'harrison gerald betty tom henry doug rob christine francis' },
    ),
  ],
  [
    'dyson',
    homonym('vacuum vacuums hair dryer airwrap fan v11 v15 cordless supersonic hoover', {
      'a person': 'freeman sphere spheres eric michael jeremy george',
    }),
  ],
  [
    'mars',
    homonym('snickers chocolate candy twix petcare wrigley bar bars', {
      'the planet':
        'planet rover nasa spacex perseverance curiosity red orbit mission colony martian space crew',
      'the singer': 'bruno veronica',
    }),
  ],
  [
    'sage',
    homonym('accounting payroll invoice 50 200 intacct software ledger', {
      'the herb': 'herb butter rosemary thyme burn burning stuffing green garden leaves smudge',
      'a wise person': 'advice wisdom old',
    }),
  ],
  [
    'corona',
    homonym('beer beers lime bottle bottles brewery modelo drink cerveza', {
      'the virus': 'virus covid pandemic lockdown vaccine test cases',
      'the sun': 'sun solar eclipse',
    }),
  ],
  [
    'pandora',
    homonym('charm charms bracelet bracelets jewelry jewellery music station stations playlist radio app', {
      'the myth': 'box myth greek opened',
      'the film': 'avatar navi cameron',
    }),
  ],
  [
    'virgin',
    homonym('media atlantic mobile broadband flight flights train trains branson galactic money voyager', {
      'the ordinary word': 'mary islands olive oil extra birth wool forest blessed',
    }),
  ],
  [
    'fox',
    homonym('news channel hannity anchor network sports broadcast murdoch tucker cable', {
      'the animal': 'animal red den chicken hen tail cub cubs hunting garden arctic',
      'a person': 'megan michael vivica',
    }),
  ],
  [
    'crown',
    homonym('royal casino resort melbourne holdings', {
      'a crown': 'king queen jewels prince princess throne dental tooth dentist netflix',
    }),
  ],
  [
    'monday',
    homonym('boards board workflow crm automation automations asana trello workspace', {
      'the day': 'morning blues motivation night tuesday weekend happy next last holiday bank labor cyber',
    }),
  ],
  [
    'linear',
    homonym('issues issue jira cycles cycle roadmap triage project tickets', {
      'the ordinary word': 'algebra regression equation function equations model models non time',
    }),
  ],
  [
    'wish',
    homonym('app shopping order ordered package shipping cheap seller refund', {
      'the ordinary word': 'you happy birthday luck best i could had make',
    }),
  ],
  [
    'swift',
    homonym('xcode ios apple swiftui objective-c compiler code bank transfer iban', {
      'the singer': 'taylor eras tour swifties album concert',
      'the ordinary word': 'action recovery response bird birds',
    }),
  ],
  [
    'tesla',
    homonym('model musk car cars ev autopilot supercharger cybertruck fsd elon tsla', {
      'a person': 'nikola coil coils inventor',
    }),
  ],
  [
    'mint',
    homonym('mobile budget budgeting intuit app account ryan reynolds plan', {
      'the herb': 'tea leaves chocolate chip fresh flavor ice cream peppermint lemon',
      'the ordinary word': 'condition nft coin coins royal',
    }),
  ],
  [
    'discord',
    homonym('server servers bot nitro mod mods channel chat voice', {
      disagreement: 'sow sowing marital political among harmony',
    }),
  ],
  [
    'signal',
    homonym('messenger encrypted app messages whatsapp telegram chat moxie', {
      'a sign': 'turn traffic strong weak cell phone bars radio noise smoke',
    }),
  ],
  [
    'brave',
    homonym('browser bat ads rewards privacy chromium search', {
      'the ordinary word': 'soldier soldiers man woman enough new world heart be',
    }),
  ],
  [
    'opera',
    homonym('browser gx vpn tabs mini', {
      music: 'singer house soprano phantom theatre theater soap aria ballet',
    }),
  ],
]);
