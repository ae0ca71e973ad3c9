import { BODY_KEY_OF, BODY_KEYS, type SourceId } from '#contracts';
import { startProgram, until, type Program } from '#testing';
import { SIMULATED_SOURCES, type PostInput } from '../apps/simulator/index.js';
import { searchOf } from '../apps/simulator/searches.js';
import { setStage, watchKeyword, openCustomer, type Customer, type Stage } from './scenario.js';

// Follows a post of the simulated world to a mention and a verified webhook, once on each source.

let stage: Stage;
let program: Program;
let customer: Customer;

beforeAll(async () => {
  stage = await setStage();
  program = await startProgram('earshot', stage.env);
  customer = await openCustomer(stage, program.url);
}, 90_000);
afterAll(async () => {
  await program?.stop();
  await stage?.close();
});

/** The event type of a published post. The default is `<source>_post.created`. */
const TYPES: Partial<Record<SourceId, string>> = {
  x: 'tweet.created',
  reddit: 'post.created',
  youtube: 'video.created',
  tiktok: 'tiktok_video.created',
  hackernews: 'hn_item.created',
  github: 'github_item.created',
  stackoverflow: 'stackoverflow_question.created',
  rss: 'article.created',
  ai_answers: 'answer.changed',
  vinted: 'listing.created',
};

interface Envelope extends Record<string, unknown> {
  id: string;
  type: string;
  previousPrice: number | null;
}

/** Creates a keyword on one source, and waits for its first check. */
async function watchOn(source: SourceId, name: string) {
  const { market = 'global', filters } = searchOf(source, stage.simulator.url);
  return watchKeyword(customer.api, {
    name,
    refresh_interval_seconds: 1,
    global_criteria: { market, ...(source !== 'ai_answers' && { query: name }) },
    sources: [{ source, enabled: true, ...(filters && { searches: [{ overrides: { filters } }] }) }],
    webhook_url: `${stage.simulator.url}/hooks/${source}`,
  });
}

function publish(source: SourceId, input: PostInput) {
  const { community } = searchOf(source, stage.simulator.url);
  return stage.simulator.world.publish(source, { ...input, ...(community !== undefined && { community }) });
}

/** Waits until the source's hook has received this number of deliveries. @returns the envelopes of all of them */
function deliveries(source: SourceId, count = 1): Promise<Envelope[]> {
  return until(
    `${count} deliveries of ${source}`,
    () => {
      const got = stage.simulator.receiver.deliveries(source);
      return got.length >= count && got.map(({ body }) => JSON.parse(body) as Envelope);
    },
    45_000,
  );
}

describe('a post', () => {
  it.each(SIMULATED_SOURCES)(
    'becomes a mention and a verified webhook on the source %s',
    async (source) => {
      const brand = 'Zephyr Kettle';
      // The simulator serves this feed only after an article was published to it.
      if (source === 'rss') publish(source, { title: 'The first article', text: 'Nothing yet' });
      if (source === 'ai_answers') publish(source, { text: 'Nobody can tell which kettle is the best.' });
      const keyword = await watchOn(source, brand);
      const title = `${brand}, seen on ${source}`;
      const post = publish(source, {
        title,
        text: `I do like my ${brand}, see https://kettles.example/about`,
        author: 'brisk_badger77',
        priceCents: 1_250,
        link: source === 'ai_answers' ? 'https://zephyr-kettle.example/' : undefined,
      });
      const delivered = await deliveries(source, source === 'ai_answers' ? 2 : 1);
      expect(stage.simulator.receiver.deliveries(source).every(({ verified }) => verified)).toBe(true);
      // A changed answer also has an event for the cited brand. The order of the two events is undefined.
      const type = TYPES[source] ?? `${source}_post.created`;
      const envelope = delivered.find((one) => one.type === type);
      expect(delivered.map((one) => one.type).sort()).toEqual(
        source === 'ai_answers' ? [type, 'term.cited'] : [type],
      );
      const filled = BODY_KEYS.filter((key) => envelope?.[key] !== null);
      expect(filled).toEqual([BODY_KEY_OF[source]]);
      expect(envelope?.[BODY_KEY_OF[source]]).toMatchObject({ source });
      const mention = await until('the mention is readable', async () => {
        const { body } = await customer.api.get(`/v1/keywords/${keyword.id}/results`);
        return body.data.find(({ id }: { id: string }) => id === envelope?.id);
      });
      expect(mention).toMatchObject({
        source,
        type: envelope?.type,
        keywordId: keyword.id,
        backfilled: false,
      });
      expect(`${mention.title} ${mention.text}`.toLowerCase()).toContain(brand.toLowerCase());
      const dated = source !== 'ai_answers' && source !== 'vinted';
      // Some sources return whole seconds.
      const publishedAt = mention.publishedAt && Math.floor(Date.parse(mention.publishedAt) / 1000);
      expect(publishedAt).toBe(dated ? Math.floor(post.publishedAt / 1000) : null);
      if (dated && source !== 'producthunt') expect(mention.author).toMatch(/^brisk[_-]badger77/);
    },
    90_000,
  );
});

describe('observations over time', () => {
  it('report the price change and the removal of a listing, and fill its price history', async () => {
    const keyword = await watchOn('vinted', 'Brass Lantern');
    const { simulator } = stage;
    const before = simulator.receiver.deliveries('vinted').length;
    const fresh = async (count: number) => (await deliveries('vinted', before + count)).slice(before);
    const post = publish('vinted', { title: 'Brass Lantern', text: '', author: 'ada', priceCents: 2_000 });
    publish('vinted', { title: 'An older Brass Lantern', text: '', author: 'ada', priceCents: 900 });
    await fresh(2);
    simulator.world.change('vinted', post.id, { priceCents: 1_550 });
    const changed = (await fresh(3))[2];
    expect(changed).toMatchObject({
      type: 'listing.price_changed',
      previousPrice: 20,
      listing: { id: post.id, price: 15.5, currency: 'EUR' },
    });
    simulator.world.remove('vinted', post.id);
    const gone = (await fresh(4))[3];
    expect(gone).toMatchObject({ type: 'listing.delisted', listing: { id: post.id } });
    const history = await until('the history is complete', async () => {
      const { body } = await customer.api.get(`/v1/vinted/items/${post.id}/price-history`);
      return body.status === 'delisted' && body;
    });
    expect(
      history.points.map((point: { event: string; price: number }) => [point.event, point.price]),
    ).toEqual([
      ['listing.created', 20],
      ['listing.price_changed', 15.5],
      ['listing.delisted', 15.5],
    ]);
    const stats = await until('the day is counted', async () => {
      const { body } = await customer.api.get(`/v1/vinted/market-stats?keyword_id=${keyword.id}`);
      return body.data[0]?.delisted > 0 && body.data;
    });
    expect(stats).toMatchObject([{ newListings: 2, delisted: 1, priceChanges: 1 }]);
    const { body } = await customer.api.get(`/v1/keywords/${keyword.id}/results`);
    const prices = body.data.map(({ listing }: { listing: { price: number } }) => listing.price);
    expect(prices).toContain(15.5);
  }, 120_000);

  it('store the answer of an engine, which can later be read for another brand', async () => {
    const keyword = await watchOn('ai_answers', 'Best kettles');
    const { body } = await until('an answer is stored', async () => {
      const answer = await customer.api.get(`/v1/keywords/${keyword.id}/answers?brand=Zephyr%20Kettle`);
      return answer.body.data?.length > 0 && answer;
    });
    expect(body.data[0]).toMatchObject({
      engine: 'openai',
      prompt: 'Which kettle is the best?',
      brands: [{ brand: 'Zephyr Kettle', mentioned: true, cited: true }],
    });
  }, 90_000);
});
