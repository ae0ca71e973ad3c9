import { pick } from './random.js';
import type { Random } from './random.js';

/** A brand of the world, a misspelling of its name, and a word that only looks similar. */
export interface Brand {
  name: string;
  product: string;
  misspelled: string;
  nearMiss: string;
}

/** The brands are invented; any similarity to a company is accidental. */
export const BRANDS: readonly Brand[] = [
  { name: 'Acme Rocket', product: 'the Acme Rocket sled', misspelled: 'Acme Roket', nearMiss: 'acmeology' },
  { name: 'Northwind', product: 'Northwind Sync', misspelled: 'Nothwind', nearMiss: 'northwindish' },
  { name: 'Globex', product: 'the Globex dashboard', misspelled: 'Globbex', nearMiss: 'globexity' },
  { name: 'Lumora', product: 'the Lumora lamp', misspelled: 'Lumorra', nearMiss: 'lumorama' },
  {
    name: 'Kestrel Cloud',
    product: 'Kestrel Cloud storage',
    misspelled: 'Kestral Cloud',
    nearMiss: 'kestrels',
  },
];

/** The communities of generated posts. */
export const COMMUNITIES = ['technology', 'gadgets', 'selfhosted', 'startups', 'webdev', 'smallbusiness'];
/** The feeds of generated articles. */
export const FEEDS = ['tech-wire', 'gadget-weekly', 'startup-notes', 'cloud-review'];

const FIRST =
  'amber brisk calm dusty early foggy gentle hollow iron jolly keen lunar mellow noble opal plain'.split(' ');
const SECOND =
  'badger comet delta ember falcon grove harbor inlet juniper kite lagoon meadow nickel otter'.split(' ');

/** Sentences about a brand: for example questions, praise and complaints. */
const ABOUT = [
  'Has anyone tried {product}? Thinking about switching from {other}.',
  "I've used {brand} for a year now and honestly it's great, support answers within an hour.",
  '{brand} is down again. Third time this month, this is getting ridiculous.',
  '{brand} vs {other}: which one would you pick for a team of ten?',
  'Is there a way to export everything from {brand}? I cannot find it in the docs.',
  "{brand}'s new pricing is a joke. Cancelling my subscription today.",
  'Bug: {product} crashes when the file name has an emoji 🙃 in it.',
  'We moved from {other} to {brand} last week and the difference is night & day.',
  'Can anyone recommend something like {product}, but cheaper?',
  'It would be lovely if {brand} had a dark mode <3',
  'PSA: 20% off {product} until Sunday https://{domain}/deals?ref=42&x=1',
  'Just shipped our integration with {brand} 🚀🚀 #{tag}',
];
const ABOUT_ABROAD: readonly { lang: string; text: string }[] = [
  { lang: 'de', text: 'Hat jemand Erfahrung mit {brand}? Größere Ausfälle oder läuft es zuverlässig?' },
  { lang: 'de', text: 'Der Umstieg auf {brand} war überraschend einfach, schöne Grüße aus Köln.' },
  { lang: 'ja', text: '新しい{brand}を使ってみたけど、とても良かった。おすすめです。' },
  { lang: 'ar', text: 'هل جرب أحدكم خدمة {brand} من قبل؟ أبحث عن بديل جيد.' },
  { lang: 'fr', text: "J'ai essayé {brand} et c'est déjà beaucoup mieux que {other}." },
  { lang: 'es', text: '¿Alguien sabe si {brand} funciona sin conexión? Mañana viajo.' },
];
const BESIDE = [
  'My thesis on {nearMiss} is finally done.',
  'Typing {misspelled} into the search box finds nothing, am I holding it wrong?',
  'Interesting read: https://{domain}/blog/how-we-scaled',
];
const OTHERWISE = [
  'What is everyone reading this week?',
  'The queue at the bakery was worth it.',
  'Show your desk setups, I need ideas.',
  'Postgres or SQLite for a side project with two users?',
  'TIL that octopuses have three hearts ❤️',
  'Our office plant has outlived three managers.',
  'Why does every meeting need a follow-up meeting?',
  'Rainy Sunday, good coffee, old films. 👍🏽',
  'Looking for a carpenter near the harbour.',
  'I wrote a small parser this weekend and learned a lot.',
];
const OPENERS = [
  '',
  '',
  '',
  'Honest question. ',
  'Long time lurker here. ',
  'Update: ',
  'Hot take: ',
  'So, ',
];
const TITLES = [
  '{brand}: our experience after six months',
  'Ask: is {brand} worth it?',
  '{brand} raises prices',
  'Show: a tool for {brand} users',
];
const OTHER_TITLES = [
  'What I learned this year',
  'A small tool for small teams',
  'Ask: how do you take notes?',
  'The state of the web',
];

/** The text of a post. `title` is only used if the source has titles. */
export interface Writing {
  title: string;
  text: string;
  lang: string;
  link: string;
}

/**
 * Invents the title and the text of a post. Two posts in five are about a brand. A few others contain only a similar
 * word, a misspelling, or a link to the brand's domain. The rest have other topics.
 */
export function compose(random: Random): Writing {
  const brand = pick(random, BRANDS);
  const fill = (text: string) => fillIn(text, brand, pick(random, BRANDS));
  const draw = random();
  const link = `https://${domainOf(brand)}/posts/${Math.floor(random() * 9000 + 1000)}`;
  if (draw < 0.32)
    return {
      title: fill(pick(random, TITLES)),
      text: pick(random, OPENERS) + fill(pick(random, ABOUT)),
      lang: 'en',
      link,
    };
  if (draw < 0.4) {
    const { lang, text } = pick(random, ABOUT_ABROAD);
    return { title: brand.name, text: fill(text), lang, link };
  }
  const title = pick(random, OTHER_TITLES);
  if (draw < 0.48) return { title, text: fill(pick(random, BESIDE)), lang: 'en', link };
  return {
    title,
    text: pick(random, OPENERS) + pick(random, OTHERWISE),
    lang: 'en',
    link: 'https://elsewhere.example/a',
  };
}

/** Returns an invented person. */
export function personFrom(random: Random): { handle: string; name: string } {
  const [first, second] = [pick(random, FIRST), pick(random, SECOND)];
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return {
    handle: `${first}_${second}${Math.floor(random() * 90 + 10)}`,
    name: `${capital(first)} ${capital(second)}`,
  };
}

/** Replaces `{brand}` and similar placeholders. */
export function fillIn(text: string, brand: Brand, other: Brand): string {
  const rival = other === brand ? BRANDS[(BRANDS.indexOf(brand) + 1) % BRANDS.length]! : other;
  const values: Record<string, string> = {
    brand: brand.name,
    product: brand.product,
    misspelled: brand.misspelled,
    nearMiss: brand.nearMiss,
    other: rival.name,
    domain: domainOf(brand),
    tag: brand.name.replace(' ', ''),
  };
  return text.replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
}

function domainOf(brand: Brand): string {
  return `${brand.name.toLowerCase().replace(' ', '-')}.example`;
}
