import { BRANDS } from '../../world/phrases.js';
import { charactersFrom, pick, seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { priceOf } from './prices.js';

/** A property of a listing: its id in a search, and its name on the site. */
interface Named {
  id: number;
  title: string;
}

const CONDITIONS: readonly Named[] = [
  { id: 6, title: 'Neuf avec étiquette' },
  { id: 1, title: 'Neuf sans étiquette' },
  { id: 2, title: 'Très bon état' },
  { id: 3, title: 'Bon état' },
  { id: 4, title: 'Satisfaisant' },
];
const SIZES: readonly Named[] = ['', 'XS', 'S', 'M', 'L', 'XL'].map((title, n) => ({ id: 206 + n, title }));
const LABELS: readonly Named[] = [
  ...BRANDS.map(({ name }, n) => ({ id: 8001 + n, title: name })),
  ...['Byron & Daughters', 'Halden', 'Juniper Row', 'Oscuro'].map((title, n) => ({ id: 8101 + n, title })),
];
const CATALOGS = [4, 5, 1193, 1904];
const COLORS = [1, 3, 9, 12];

/** The properties by which a search can filter. */
export interface Facts {
  brand: Named;
  size: Named;
  condition: Named;
  catalogId: number;
  colorId: number;
}

/**
 * Returns the properties that the seller has entered. The brand is the brand that the title or text names. If neither
 * of them names a brand, the brand is a label that is not a brand of the world.
 */
export function factsOf(post: SimPost): Facts {
  const random = seededRandom('vinted facts', post.number);
  const words = `${post.title} ${post.text}`.toLowerCase();
  const named = LABELS.find(({ title }) => words.includes(title.toLowerCase()));
  return {
    brand: named ?? pick(random, LABELS.slice(BRANDS.length)),
    size: pick(random, SIZES),
    condition: pick(random, CONDITIONS),
    catalogId: pick(random, CATALOGS),
    colorId: pick(random, COLORS),
  };
}

/** Returns the path of a listing's page. */
export function pathOf(post: SimPost): string {
  const slug = post.title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');
  return slug === '' ? `/items/${post.id}` : `/items/${post.id}-${slug}`;
}

/** The site for which an entry of the catalogue is built. */
export interface CatalogSite {
  /** Address of the site, without a slash at the end. */
  site: string;
  /** The currency of the site. */
  currency: string;
  now: Date;
}

/** Returns a listing as the catalogue shows it, without its seller's text. */
export function entryOf(post: SimPost, catalog: CatalogSite): object {
  const { brand, size, condition } = factsOf(post);
  const price = priceOf(post, catalog);
  const path = pathOf(post);
  const secondLine = [size.title, condition.title].filter((text) => text !== '').join(' · ');
  return {
    id: Number(post.id),
    title: post.title,
    price: price.asked,
    is_visible: true,
    brand_title: brand.title,
    path,
    user: sellerOf(post, catalog.site),
    conversion: price.conversion,
    url: catalog.site + path,
    promoted: post.promoted,
    // The photo is up to ten minutes older than the listing.
    photos: [photoOf(`listing ${post.number}`, Math.floor(post.publishedAt / 1000) - (post.number % 600))],
    favourite_count: post.score,
    is_favourite: false,
    service_fee: price.fee,
    total_item_price: price.total,
    // Visitors do not see the number of views.
    view_count: 0,
    size_title: size.title,
    content_source: post.promoted ? 'search_promoted_items' : 'search',
    status: condition.title,
    item_box: {
      first_line: brand.title,
      second_line: secondLine,
      exposures: [],
      accessibility_label: [
        post.title,
        `marque: ${brand.title}`,
        `état: ${condition.title}`,
        ...(size.title ? [`taille: ${size.title}`] : []),
        price.asWords,
      ].join(', '),
      item_id: Number(post.id),
    },
    search_tracking_params: { score: null, matched_queries: [] },
  };
}

function sellerOf({ author }: SimPost, site: string): object {
  const random = seededRandom('vinted member', author);
  const id = 1_000_000 + wholeBelow(random, 300_000_000);
  const hasPhoto = random() < 0.8;
  return {
    id,
    login: author,
    profile_url: `${site}/member/${id}-${author}`,
    photo: hasPhoto ? portraitOf(author) : null,
    business: random() < 0.1,
  };
}

function photoOf(seed: string, takenAt: number): object {
  return { ...pictureOf(seed, takenAt, ['70x100', '150x210', '310x430']), image_no: 1, is_main: true };
}

function portraitOf(author: string): object {
  const picture = pictureOf(`member ${author}`, 1_700_000_000, ['310x310', '150x150', '100x100', '50x50']);
  return { ...picture, temp_uuid: null, orientation: null };
}

function pictureOf(seed: string, takenAt: number, thumbnails: readonly string[]): object {
  const digits = (what: string, length: number) =>
    charactersFrom(`${what} ${seed}`, '0123456789abcdef', length);
  const id = `01_${digits('photo', 5)}_${charactersFrom(seed, 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 24)}`;
  const at = (form: string) => `https://images1.vinted.example/${form}/${takenAt}.webp?s=${digits(form, 40)}`;
  return {
    id: 10_000_000_000 + wholeBelow(seededRandom(seed), 1_000_000_000),
    width: 600,
    height: 800,
    dominant_color: '#31abc2',
    dominant_color_opaque: '#C1E6ED',
    url: at(`t/${id}/f800`),
    thumbnails: thumbnails.map((form) => {
      const [width, height] = form.split('x').map(Number);
      return { type: `thumb${form}`, url: at(`t/${id}/${form}`), width, height, original_size: null };
    }),
    high_resolution: { id, timestamp: takenAt, orientation: null },
    is_suspicious: false,
    full_size_url: at(`tc/${id}`),
    is_hidden: false,
    extra: {},
  };
}
