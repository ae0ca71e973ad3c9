import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { limitsOf } from '#contracts';
import type { Json } from '#testing';
import { cli, envOf } from './cli-under-test.js';
import { keywordBody, type InterfaceUnderTest } from './interface-under-test.js';

/** Tests of the commands that export, plan and apply a file of keywords. */
export function keywordFileTasks(service: () => InterfaceUnderTest): void {
  describe('keywords export, plan and apply', () => {
    const folder = mkdtempSync(join(tmpdir(), 'earshot-keywords-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const file = (name: string, content?: string) => {
      const path = join(folder, name);
      if (content !== undefined) writeFileSync(path, content);
      return path;
    };
    const RICH = {
      ...keywordBody({ name: 'Rich', refresh_interval_seconds: 3600 }),
      mute_rules: ['giveaway', { value: 'spammer', target: 'author' }],
      vip_authors: ['ada'],
      sources: [
        { source: 'hackernews', enabled: true },
        {
          source: 'rss',
          enabled: true,
          searches: [{ label: 'News', overrides: { filters: { feed_urls: ['https://example.org/a.xml'] } } }],
        },
      ],
      rules: [
        {
          name: 'Star',
          when: { kind: 'item', all: [{ field: 'vip', op: 'eq', value: true }] },
          then: [{ type: 'mark', label: 'starred' }],
        },
      ],
      schedule: { startsAt: null, endsAt: null, timezone: 'Europe/Berlin' },
    };

    it('find no changes in an exported file, even if the order of its keys changes [code.export]', async () => {
      const ada = await service().tenant();
      expect((await ada.api.post('/v1/keywords', RICH)).status).toBe(201);
      expect((await ada.api.post('/v1/keywords', keywordBody({ name: 'Plain' }))).status).toBe(201);
      const exported = await cli(envOf(service(), ada), 'keywords', 'export');
      expect(exported.code).toBe(0);
      expect(exported.out).not.toContain('  id:');
      const planned = await cli(envOf(service(), ada), 'keywords', 'plan', file('same.yaml', exported.out));
      expect(planned).toMatchObject({ code: 0, out: expect.stringContaining('2 unchanged'), errors: '' });
      const short = `keywords:
  - name: Rich
    refreshIntervalSeconds: 3600
    globalCriteria: { query: acme, market: global }
    sources:
      - { enabled: true, source: hackernews }
      - source: rss
        enabled: true
        searches: [{ label: News, overrides: { filters: { feed_urls: ['https://example.org/a.xml'] } } }]
    muteRules: [giveaway, { target: author, value: spammer }]
`;
      const shortened = await cli(envOf(service(), ada), 'keywords', 'plan', file('short.yaml', short));
      expect(shortened).toMatchObject({ code: 0, out: expect.stringContaining('Plain: not in the file') });
      // The file can also be applied to an account without keywords.
      const bob = await service().tenant();
      expect(await cli(envOf(service(), bob), 'keywords', 'apply', file('same.yaml'))).toMatchObject({
        code: 0,
        errors: '',
      });
      expect((await cli(envOf(service(), bob), 'keywords', 'plan', file('same.yaml'))).code).toBe(0);
    }, 60_000);

    it('show changes, searches that start over and credits a month, and then make exactly these changes [code.plan, code.apply]', async () => {
      const ada = await service().tenant();
      const { id } = (
        await ada.api.post('/v1/keywords', keywordBody({ name: 'Acme', refresh_interval_seconds: 3600 }))
      ).body;
      await ada.api.post('/v1/keywords', keywordBody({ name: 'Old' }));
      const wanted = `keywords:
  - name: Acme
    refreshIntervalSeconds: 1800
    globalCriteria: { market: global, query: acme corp }
    sources: [{ source: hackernews, enabled: true }]
  - name: New
    refreshIntervalSeconds: 3600
    globalCriteria: { market: global, query: new }
    sources: [{ source: hackernews, enabled: true }]
`;
      const path = file('wanted.yaml', wanted);
      const planned = await cli(envOf(service(), ada), 'keywords', 'plan', path, '--delete');
      expect(planned.code).toBe(2);
      expect(planned.out).toContain('~ Acme: change, 720 → 1440 credits per month');
      expect(planned.out).toContain('refreshIntervalSeconds: 3600 → 1800');
      expect(planned.out).toContain('starts over: hackernews');
      expect(planned.out).toContain('+ New: create, 0 → 720 credits per month');
      expect(planned.out).toContain('- Old: delete, 4320 → 0 credits per month');
      expect(planned.out).toContain('Credits per month: 5040 before, 2160 after');
      expect((await ada.api.get('/v1/keywords')).body.data).toHaveLength(2);

      expect((await cli(envOf(service(), ada), 'keywords', 'apply', path)).code).toBe(0);
      const found = (await ada.api.get('/v1/keywords?state=active')).body.data as Json[];
      expect(found.map(({ name }) => name)).toEqual(['New', 'Old', 'Acme']);
      expect(found[2]).toMatchObject({
        id,
        refreshIntervalSeconds: 1800,
        globalCriteria: { query: 'acme corp' },
      });
      expect((await cli(envOf(service(), ada), 'keywords', 'plan', path)).code).toBe(0);

      expect((await cli(envOf(service(), ada), 'keywords', 'apply', path, '--delete')).out).toContain(
        'deleted Old',
      );
      const retired = (await ada.api.get('/v1/keywords?state=retired')).body.data as Json[];
      expect(retired.map(({ name }) => name)).toEqual(['Old']);
    }, 60_000);

    it('check a change as PATCH does, and keep the stored values of keys that the file leaves out [code.plan, estimate.change]', async () => {
      const ada = await service().tenant('free');
      const body = keywordBody({ name: 'Acme', refresh_interval_seconds: 86_400, sentiment_enabled: false });
      const { id } = (await ada.api.post('/v1/keywords', body)).body;
      const slots = limitsOf('free').searchSlots ?? 0;
      const withSearches = (count: number) => `keywords:
  - name: Acme
    refreshIntervalSeconds: 86400
    globalCriteria: { market: global, query: acme }
    sources:
      - source: hackernews
        enabled: true
        searches: [${Array.from({ length: count }, (_, n) => `{ overrides: { query: q${n} } }`).join(', ')}]
`;
      const plan = (count: number) =>
        cli(envOf(service(), ada), 'keywords', 'plan', file('limit.yaml', withSearches(count)));
      expect(await plan(slots + 1)).toMatchObject({
        code: 1,
        errors: expect.stringContaining(`allows ${slots} search slots`),
      });
      expect(
        (await cli(envOf(service(), ada), 'keywords', 'apply', file('limit.yaml', withSearches(slots)))).code,
      ).toBe(0);
      const full = await plan(slots - 1);
      expect(full).toMatchObject({ code: 2, errors: '' });
      expect(full.out).toContain(`Acme: change, ${30 * slots} → ${30 * (slots - 1)} credits per month`);
      expect((await ada.api.get(`/v1/keywords/${id}`)).body.sentimentEnabled).toBe(false);
    }, 60_000);

    it('print why they cannot read the file, and what to do', async () => {
      const ada = await service().tenant();
      const missing = join(folder, 'missing.yaml');
      for (const verb of ['plan', 'apply']) {
        const answer = await cli(envOf(service(), ada), 'keywords', verb, missing);
        expect(answer).toMatchObject({ code: 1, out: '' });
        expect(answer.errors).toContain(
          `cannot read ${missing}: no such file; write one with \`keywords export`,
        );
      }
      expect((await cli(envOf(service(), ada), 'keywords', 'plan', folder)).errors).toContain(
        `cannot read ${folder}: it is a folder`,
      );
    }, 40_000);

    it('refuse the whole file if one keyword is invalid, and name this keyword', async () => {
      const ada = await service().tenant();
      const valid = 'refreshIntervalSeconds: 3600, globalCriteria: { market: global, query: a }';
      const path = file(
        'bad.yaml',
        `keywords:\n  - { name: Good, ${valid}, sources: [{ source: hackernews, enabled: true }] }\n  - { name: Bad, ${valid}, sources: [{ source: usenet, enabled: true }] }\n`,
      );
      for (const verb of ['plan', 'apply']) {
        const answer = await cli(envOf(service(), ada), 'keywords', verb, path);
        expect(answer).toMatchObject({ code: 1, out: '' });
        expect(answer.errors).toContain('"Bad" is refused');
        expect(answer.errors).toContain('source');
      }
      expect((await ada.api.get('/v1/keywords')).body.data).toEqual([]);
    }, 40_000);

    it('find keywords by name, but need the id if several keywords have the same name [code.counterpart]', async () => {
      const ada = await service().tenant();
      const ids = [];
      for (const query of ['a', 'b'])
        ids.push(
          (
            await ada.api.post(
              '/v1/keywords',
              keywordBody({ name: 'Acme', global_criteria: { market: 'global', query } }),
            )
          ).body.id,
        );
      const exported = await cli(envOf(service(), ada), 'keywords', 'export');
      const { keywords } = parse(exported.out) as { keywords: { id: string }[] };
      expect(keywords.map(({ id }) => id).sort()).toEqual([...ids].sort());
      const path = file('same-names.yaml', exported.out);
      expect((await cli(envOf(service(), ada), 'keywords', 'plan', path)).code).toBe(0);
      const renamed = readFileSync(path, 'utf8').replace('name: Acme', 'name: Renamed');
      const plan = await cli(envOf(service(), ada), 'keywords', 'plan', file('renamed.yaml', renamed));
      expect(plan).toMatchObject({ code: 2, out: expect.stringContaining('name: "Acme" → "Renamed"') });
      const nameless = renamed.replace(/^ *- id: .*\n +/gm, '  - ').replace('name: Acme', 'name: Other');
      expect((await cli(envOf(service(), ada), 'keywords', 'plan', file('other.yaml', nameless))).code).toBe(
        2,
      );
      const ambiguous = exported.out.replace(/^ *- id: .*\n +/m, '  - ');
      const refused = await cli(envOf(service(), ada), 'keywords', 'plan', file('ambiguous.yaml', ambiguous));
      expect(refused).toMatchObject({
        code: 1,
        errors: expect.stringContaining('several keywords have the name'),
      });
    }, 60_000);

    it.each([
      ['text that is not YAML', 'keywords: [', 'not valid YAML'],
      ['another key', 'queries: []', 'one key, keywords'],
      ['a missing key', 'keywords: [{ name: a }]', 'keywords[0].refreshIntervalSeconds is missing'],
    ])('name the fault of a file with %s', async (_, content, message) => {
      const answer = await cli(
        envOf(service(), await service().tenant()),
        'keywords',
        'plan',
        file('faulty.yaml', content),
      );
      expect(answer).toMatchObject({ code: 1, errors: expect.stringContaining(message) });
    });
  });
}
