import { comparedTitle, hasRecorded, recorded, type Json } from '../../testing/recorded-shapes.js';
import { SimulatorClient, type Answer } from '../../testing/simulator-client.js';

interface Entry extends Json {
  id: number;
  price: { amount: string; currency_code: string };
  conversion: Json | null;
  user: Json & { login: string; photo: Json | null };
  photos: (Json & { high_resolution: { timestamp: number } })[];
}

interface Page extends Json {
  items: Entry[];
  pagination: Record<'current_page' | 'total_pages' | 'total_entries' | 'per_page' | 'time', number>;
  code: number;
}

let client: SimulatorClient;
let cookie: string;

beforeEach(async () => {
  client = await SimulatorClient.start();
  cookie = await visit();
});
afterEach(() => client.stop());

async function visit(): Promise<string> {
  const { headers } = await client.ask('/');
  return (headers['set-cookie'] as string[]).map((each) => each.split(';')[0]).join('; ');
}

function publish(title: string, more: object = {}): string {
  return client.simulator.world.publish('vinted', { title, text: '', author: 'ada', ...more }).id;
}

const ask = (query: string): Promise<Answer> => client.ask(`/api/v2/catalog/items?${query}`, { cookie });
const read = async (query = 'order=newest_first') => (await ask(query)).json<Page>();
const idsOf = ({ items }: Page) => items.map(({ id }) => String(id));

describe('a visit to vinted', () => {
  it('begins with a request for the home page, and ends after two hours', async () => {
    const names = cookie.split('; ').map((pair) => pair.split('=')[0]);
    expect(names).toEqual(['__cf_bm', 'anon_id', 'access_token_web', 'refresh_token_web']);
    expect((await ask('')).status).toBe(200);
    client.clock.pass(7_201);
    const ended = await ask('');
    expect([ended.status, ended.json<Json>().code]).toEqual([401, 100]);
    cookie = await visit();
    expect((await ask('')).status).toBe(200);
  });

  it('is required by the catalogue, which accepts any token except an empty token and `wrong`', async () => {
    const statusWith = async (value: string) => {
      cookie = value;
      return (await ask('')).status;
    };
    expect(await statusWith('anon_id=a')).toBe(401);
    expect(await statusWith('access_token_web=')).toBe(401);
    expect(await statusWith('access_token_web=wrong')).toBe(401);
    expect(await statusWith('anon_id=a; access_token_web=mine')).toBe(200);
  });
});

describe('the catalogue of vinted', () => {
  it("finds listings of different markets that contain each word in the title or the seller's text", async () => {
    const lamp = publish('Brass lantern', { community: 'fr' });
    const described = publish('A find', { text: 'a lantern of brass', community: 'de' });
    publish('Brass lanterns');
    expect(idsOf(await read('search_text=BRASS+lantern&order=newest_first'))).toEqual([described, lamp]);
    expect(idsOf(await read('search_text=%22lantern+brass%22&order=newest_first'))).toEqual([
      described,
      lamp,
    ]);
    expect(idsOf(await read('search_text=northwind'))).toEqual([]);
  });

  it('filters by price and brand, and sorts by price and time', async () => {
    const cheap = publish('Lamp', { priceCents: 900 });
    const dear = publish('Lamp', { priceCents: 2_050 });
    expect(idsOf(await read('order=price_low_to_high'))).toEqual([cheap, dear]);
    expect(idsOf(await read('order=price_high_to_low'))).toEqual([dear, cheap]);
    expect(idsOf(await read('order=newest_first'))).toEqual([dear, cheap]);
    expect(idsOf(await read('price_from=9&price_to=20'))).toEqual([cheap]);
    expect(idsOf(await read('price_from=20.5'))).toEqual([dear]);
    const branded = publish('A lamp by Lumora');
    expect(idsOf(await read('brand_ids=8004'))).toEqual([branded]);
    expect(idsOf(await read('brand_ids[]=8004&brand_ids[]=1'))).toEqual([branded]);
    expect((await read('search_text=lumora')).items[0]).toMatchObject({ brand_title: 'Lumora' });
  });

  it('returns up to 96 listings per page and 960 in total; later pages contain nothing newer than the first page', async () => {
    for (let n = 0; n < 1_000; n++) publish(`Lamp ${n}`);
    const first = await read('order=newest_first&per_page=500');
    const time = Math.floor(client.clock.now().getTime() / 1000);
    expect(first.items.length).toBe(96);
    expect(first.pagination).toEqual({
      current_page: 1,
      total_pages: 10,
      total_entries: 960,
      per_page: 96,
      time,
    });
    client.clock.pass(10);
    const late = publish('Lamp, late');
    const second = await read(`order=newest_first&page=2&time=${time}`);
    expect(second.pagination).toMatchObject({ current_page: 2, time });
    expect(second.items[0]?.title).toBe('Lamp 903');
    expect(idsOf(await read())[0]).toBe(late);
    expect((await read('page=11')).items).toEqual([]);
    expect((await read('page=2&per_page=3')).pagination).toMatchObject({ per_page: 3, total_pages: 320 });
  });

  it('inserts promoted listings out of order', async () => {
    const promotedId = publish('Lamp, paid', { promoted: true });
    const placed = Array.from({ length: 5 }, (_, n) => publish(`Lamp ${n}`)).reverse();
    const { items } = await read();
    expect(items.map(({ id }) => String(id))).toEqual([
      ...placed.slice(0, 3),
      promotedId,
      ...placed.slice(3),
    ]);
    expect(items.map(({ promoted }) => promoted)).toEqual([false, false, false, true, false, false]);
    expect(items[3]?.content_source).toBe('search_promoted_items');
  });

  it("shows prices in the currency of the site, and the seller's price if its currency differs", async () => {
    publish('Lamp', { priceCents: 2_000 });
    publish('Vase', { priceCents: 4_328, community: 'pl' });
    const [vase, lamp] = (await read()).items;
    expect([lamp?.price, lamp?.conversion]).toEqual([{ amount: '20.0', currency_code: 'EUR' }, null]);
    expect([lamp?.service_fee, lamp?.total_item_price]).toEqual([
      { amount: '1.7', currency_code: 'EUR' },
      { amount: '21.7', currency_code: 'EUR' },
    ]);
    expect(vase?.price.currency_code).toBe('EUR');
    expect(Number(vase?.price.amount)).toBeCloseTo(10.2, 0);
    expect(vase?.conversion).toMatchObject({ seller_price: '43.28', seller_currency: 'PLN' });
    client.clock.pass(86_400);
    cookie = await visit();
    const [later] = (await read()).items;
    expect(later?.price.amount).not.toBe(vase?.price.amount);
    expect(later?.conversion).toMatchObject({ seller_price: '43.28' });
    const inZloty = await read('currency=PLN&price_from=43&price_to=44');
    expect(inZloty.items.map(({ price, conversion }) => [price, conversion])).toEqual([
      [{ amount: '43.28', currency_code: 'PLN' }, null],
    ]);
  });

  it('shows the changed price of a listing, and no removed listing', async () => {
    const id = publish('Brass lantern', { priceCents: 2_000 });
    client.simulator.world.change('vinted', id, { priceCents: 1_550, title: 'Brass lamp' });
    const { items } = await read('search_text=lamp');
    expect(items[0]).toMatchObject({ price: { amount: '15.5' }, path: `/items/${id}-brass-lamp` });
    expect((await read('search_text=lantern')).items).toEqual([]);
    expect((await client.ask(`/items/${id}`)).status).toBe(200);
    expect((await client.ask(String(items[0]?.path))).text).toContain('15,50 €');
    client.simulator.world.remove('vinted', id);
    expect((await read()).items).toEqual([]);
    const gone = await client.ask(`/items/${id}`);
    expect([gone.status, gone.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it('contains generated listings, some promoted and some from other markets', async () => {
    await client.stop();
    client = await SimulatorClient.start({ historyPosts: 400 });
    cookie = await visit();
    const pages = await Promise.all([1, 2, 3, 4, 5].map((n) => read(`order=newest_first&page=${n}`)));
    const items = pages.flatMap(({ items: some }) => some);
    expect(new Set(items.map(({ id }) => id)).size).toBe(400);
    const share = (test: (entry: Entry) => boolean) => items.filter(test).length / items.length;
    expect(share(({ promoted }) => promoted === true)).toBeCloseTo(0.1, 1);
    expect(share(({ conversion }) => conversion !== null)).toBeCloseTo(0.33, 1);
    const now = client.clock.now().getTime() / 1000;
    expect(items.every(({ photos }) => photos[0]!.high_resolution.timestamp < now)).toBe(true);
  });

  it('refuses a request with its own JSON, or with the HTML page of a server in front of vinted', async () => {
    const responseTo = async (kind: '401' | '403' | '404' | '429' | '503') => {
      client.simulator.faults.add({ source: 'vinted', kind, times: 1 });
      return ask('');
    };
    expect((await responseTo('401')).json()).toMatchObject({ code: 100 });
    expect((await responseTo('403')).json()).toMatchObject({ code: 106, message_code: 'access_denied' });
    expect((await responseTo('404')).json()).toMatchObject({ code: 104 });
    for (const kind of ['429', '503'] as const) {
      const { status, headers } = await responseTo(kind);
      expect([status, headers['content-type']]).toEqual([Number(kind), 'text/html; charset=utf-8']);
    }
    // Faults do not affect visits.
    client.simulator.faults.add({ source: 'vinted', kind: '403', times: 1 });
    expect((await client.ask('/')).status).toBe(200);
  });
});

function sortedKeys(object: object | null | undefined): string[] {
  return Object.keys(object ?? {}).sort();
}

(hasRecorded ? describe : describe.skip)(`vinted, ${comparedTitle}`, () => {
  it('pages and entries have exactly the recorded keys', async () => {
    for (let n = 0; n < 10; n++) publish(`Lamp ${n}`, { author: `ada${n}`, community: n < 5 ? 'fr' : 'pl' });
    const page = await read();
    const known = recorded<Page & { items: (Entry & { photo: Json })[] }>('vinted/catalog-items-1.json');
    expect(sortedKeys(page)).toEqual(sortedKeys(known));
    expect(sortedKeys(page.pagination)).toEqual(sortedKeys(known.pagination));
    expect(sortedKeys(page.search_tracking_params as Json)).toEqual(
      sortedKeys(known.search_tracking_params as Json),
    );
    const [whole] = known.items;
    const converted = known.items.find(({ conversion }) => conversion);
    const portrayed = known.items.find(({ user }) => user.photo);
    // A list of photos replaced the single photo in 2026.
    const newest = sortedKeys(recorded<Entry>('vinted/catalog-item-uk-promoted-1.json'));
    for (const entry of page.items) {
      expect(sortedKeys(entry)).toEqual(newest);
      expect(sortedKeys(entry.item_box as Json)).toEqual(sortedKeys(whole!.item_box as Json));
      expect(sortedKeys(entry.user)).toEqual(sortedKeys(whole!.user));
      expect(sortedKeys(entry.photos[0])).toEqual(sortedKeys(whole!.photo));
      if (entry.conversion) expect(sortedKeys(entry.conversion)).toEqual(sortedKeys(converted!.conversion));
      if (entry.user.photo) expect(sortedKeys(entry.user.photo)).toEqual(sortedKeys(portrayed!.user.photo));
    }
    expect(page.items.some(({ conversion }) => conversion)).toBe(true);
    expect(page.items.some(({ user }) => user.photo)).toBe(true);
  });

  it('a request without a visit is refused as recorded', async () => {
    expect((await client.ask('/api/v2/catalog/items')).json()).toEqual(recorded('vinted/error-401-1.json'));
  });
});
