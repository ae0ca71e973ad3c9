import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

describe('the simulated Stack Overflow', () => {
  type Item = Record<string, unknown>;
  type Found = { items: Item[]; has_more: boolean; quota_max: number; quota_remaining: number };
  const publish = (title: string, more: object = {}) =>
    Number(client.simulator.world.publish('stackoverflow', { title, text: 'Why?', ...more }).id);
  const ask = (path: string) => client.ask(`/2.3/${path}`);
  const newest = async (path: string, more = '') =>
    (await ask(`${path}?order=desc&sort=creation&site=stackoverflow${more}`)).json<Found>();
  const search = async (more: string) =>
    (await newest('search/advanced', `&${more}`)).items.map((item) => item['question_id']);

  it('searches questions by words, phrases and tags, and does not search answers', async () => {
    const one = publish('The acme rocket', { text: 'It blinks #led' });
    const two = publish('Rockets', { text: 'An acme thing, a rocket #led #usb' });
    publish('', { kind: 'answer', text: 'acme rocket' });
    expect(await search('q=acme+rocket')).toEqual([two, one]);
    expect(await search('q=%22acme+rocket%22')).toEqual([one]);
    expect(await search('q=acme+-blinks')).toEqual([two]);
    expect(await search('q=acme+OR+kestrel')).toEqual([]);
    expect(await search('q=%5Busb%5D+acme')).toEqual([two]);
    expect(await search('title=acme')).toEqual([one]);
    // The search requires one of the tags; the list of questions requires all of them.
    expect(await search('tagged=led;usb')).toEqual([two, one]);
    expect(await search('tagged=led&nottagged=usb')).toEqual([one]);
    const list = await newest('questions', '&tagged=led;usb');
    expect(list.items.map((item) => item['question_id'])).toEqual([two]);
    const named = (await ask(`questions/${one};${two};1?site=stackoverflow&sort=creation`)).json<Found>();
    expect(named.items.map((item) => item['question_id'])).toEqual([two, one]);
  });

  it('returns questions from a given second on, in numbered pages', async () => {
    const ids = ['a', 'b', 'c'].map((title) => {
      client.clock.pass(10);
      return publish(title);
    });
    const from = client.clock.now().getTime() / 1000;
    expect(await search(`fromdate=${from}`)).toEqual([ids[2]]);
    expect(await search(`todate=${from - 10}`)).toEqual([ids[1], ids[0]]);
    const first = await newest('questions', '&pagesize=2');
    expect([first.items.map((item) => item['question_id']), first.has_more]).toEqual([
      [ids[2], ids[1]],
      true,
    ]);
    const second = await newest('questions', '&pagesize=2&page=2');
    expect([second.items.map((item) => item['question_id']), second.has_more]).toEqual([[ids[0]], false]);
  });

  it('returns the fields of the filter, and creates permanent filters', async () => {
    publish('A "lamp" & more', { text: 'It is <b>&\n\nhttps://lamps.example/a', author: "O'Ada" });
    publish('', { kind: 'answer', text: 'No.' });
    const [plain] = (await newest('questions')).items;
    expect([plain?.['title'], 'body' in (plain ?? {})]).toEqual(['A &quot;lamp&quot; &amp; more', false]);
    const [whole] = (await newest('questions', '&filter=withbody')).items;
    expect(whole).toMatchObject({
      body: '<p>It is &lt;b&gt;&amp;</p>\n\n<p><a href="https://lamps.example/a" rel="nofollow noreferrer">https://lamps.example/a</a></p>\n',
      owner: { display_name: 'O&#39;Ada' },
      answer_count: 1,
    });
    const made = await ask(
      'filters/create?base=withbody&include=answer.title;answer.tags&exclude=answer.owner',
    );
    const [{ filter, filter_type: type, included_fields: fields } = {}] = made.json<Found>().items;
    expect([type, (fields as string[]).includes('answer.title')]).toEqual(['safe', true]);
    const [answer] = (await newest('answers', `&filter=${String(filter)}`)).items;
    expect(answer).toMatchObject({ title: 'A &quot;lamp&quot; &amp; more', body: '<p>No.</p>\n' });
    expect('owner' in (answer ?? {})).toBe(false);
    const [usual] = (await newest('answers')).items;
    expect(['title', 'tags', 'link'].filter((key) => key in (usual ?? {}))).toEqual([]);
    expect(await newest('questions', '&filter=total')).toEqual({ total: 1 });
  });

  it('separates the posts of different sites', async () => {
    const one = publish('on another site', { community: 'serverfault' });
    expect(await search('q=another')).toEqual([]);
    const there = (await ask('questions?site=serverfault.com')).json<Found>();
    expect(there.items.map((item) => item['question_id'])).toEqual([one]);
    expect(there.items[0]?.['link']).toBe(`https://serverfault.com/questions/${one}/on-another-site`);
    const two = publish('en otro sitio', { community: 'es.stackoverflow' });
    const spanish = (await ask('questions?site=es.stackoverflow')).json<Found>();
    expect(spanish.items.map(({ link }) => link)).toEqual([
      `https://es.stackoverflow.com/questions/${two}/en-otro-sitio`,
    ]);
  });

  it.each([
    ['questions', 400, 'bad_parameter', 'site is required'],
    ['questions?site=lamps', 400, 'bad_parameter', 'No site found for name `lamps`'],
    ['questions?site=stackoverflow&pagesize=101', 400, 'bad_parameter', 'pagesize'],
    ['questions?site=stackoverflow&page=0', 400, 'bad_parameter', 'page'],
    ['questions?site=stackoverflow&fromdate=today', 400, 'bad_parameter', 'fromdate'],
    ['questions?site=stackoverflow&filter=!no', 400, 'bad_parameter', 'Invalid filter specified'],
    [
      'questions?site=stackoverflow&key=wrong',
      400,
      'bad_parameter',
      "`key` doesn't match a known application",
    ],
    ['questions/a?site=stackoverflow', 400, 'bad_parameter', 'ids'],
    ['filters/create?include=answer.secrets', 400, 'bad_parameter', 'include'],
    [
      'questions?site=stackoverflow&page=26',
      403,
      'access_denied',
      'page above 25 requires access token or app key',
    ],
    ['nothing', 404, 'no_method', 'no method found with this name'],
  ])('refuses %s with the status 400 and the error id %i', async (path, id, name, message) => {
    const answer = await ask(path);
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({ error_id: id, error_name: name, error_message: message });
  });

  it('counts the requests of a UTC day, with and without a key', async () => {
    await client.stop();
    client = await SimulatorClient.start({ limits: { stackoverflow: 100 } });
    const quotaOf = ({ quota_max: max, quota_remaining: left }: Found) => [max, left];
    expect(quotaOf(await newest('questions', '&key=k'))).toEqual([100, 99]);
    expect(quotaOf(await newest('questions'))).toEqual([3, 2]);
    await newest('questions');
    await newest('questions');
    const refused = await ask('questions?site=stackoverflow');
    expect([refused.status, refused.json()]).toEqual([
      400,
      {
        error_id: 502,
        error_name: 'throttle_violation',
        error_message: 'too many requests from this IP, more requests available in 43200 seconds',
      },
    ]);
    client.clock.pass(43_200);
    expect(quotaOf(await newest('questions'))).toEqual([3, 2]);
  });

  it('compresses its responses if the client accepts gzip', async () => {
    const url = `${client.simulator.url}/2.3/questions?site=stackoverflow`;
    const answer = await request(url, { headers: { 'accept-encoding': 'gzip, br' } });
    expect(answer.headers['content-encoding']).toBe('gzip');
    const text = gunzipSync(await answer.body.arrayBuffer()).toString();
    expect(text).toBe('{"items":[],"has_more":false,"quota_max":300,"quota_remaining":299}');
    expect((await ask('questions?site=stackoverflow')).headers['content-encoding']).toBeUndefined();
  });
});
