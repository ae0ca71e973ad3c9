import fc from 'fast-check';
import { eventMessage } from './event-message.js';
import { renderMail } from './email/render.js';
import { cut, fitted, linkable, oneLine, plain, withoutPings, type Entry, type Message } from './message.js';
import { renderDiscord } from './discord/render.js';
import { renderSlack } from './slack/render.js';
import { renderTeams } from './teams/render.js';
import { renderTelegram, withoutMarkup } from './telegram/render.js';

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '<!channel>',
        '@everyone',
        '@ada',
        '<@U1>',
        '</b>',
        '&&&&',
        '**',
        '](http://x)',
        '\u202E',
        '\uD800',
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(' '));
const entry = fc.record({
  title: hostile.map((text) => cut(oneLine(text), 300)),
  url: fc.constantFrom(null, 'https://example.org/a_(b)?c=<d>&e="f"'),
  text: hostile.map((text) => cut(plain(text), 1000)),
  meta: hostile.map((text) => cut(oneLine(text), 300)),
});
const messages: fc.Arbitrary<Message> = fc.record({
  title: hostile.map((text) => cut(oneLine(text), 300)),
  sections: fc.array(
    fc.record({
      heading: hostile.map((text) => cut(oneLine(text), 80)),
      lines: fc.constant([]),
      entries: fc.array(entry, { maxLength: 12 }),
    }),
    { maxLength: 5 },
  ),
  more: fc.nat(1000),
  link: fc.constantFrom(null, { label: 'Open', url: 'https://example.org/' }),
  footer: hostile.map((text) => cut(oneLine(text), 100)),
});
const PINGS = /<[!@#](?=\w)|@(?=[a-z])/i;
const assertAll = (check: (message: Message) => void) =>
  fc.assert(fc.property(messages, check), { numRuns: 150 });

describe('a rendered message', () => {
  it('has at most 50 blocks and short headers in Slack, and notifies nobody', () => {
    assertAll((message) => {
      const { text, blocks = [] } = renderSlack(message);
      expect(blocks.length).toBeLessThanOrEqual(50);
      expect(JSON.stringify(blocks).length).toBeLessThanOrEqual(12_000);
      expect(text).not.toMatch(/[<>]/);
      expect(JSON.stringify(blocks)).not.toMatch(PINGS);
      for (const block of blocks)
        if (block.type === 'header') expect(block.text.text.length).toBeLessThanOrEqual(150);
    });
  });

  it('stays within the limits of embeds in Discord, and notifies nobody', () => {
    assertAll((message) => {
      const { embeds = [], content, allowed_mentions: allowed } = renderDiscord(message);
      expect([content, allowed]).toEqual([undefined, { parse: [] }]);
      const [embed] = embeds;
      expect(embed?.author?.name.length).toBeLessThanOrEqual(256);
      expect(embed?.description?.length).toBeLessThanOrEqual(4096);
      expect(embed?.description).not.toMatch(PINGS);
    });
  });

  it('has at most 28 KB in Teams, and contains texts only in rich text blocks', () => {
    assertAll((message) => {
      const rendered = renderTeams(message);
      expect(Buffer.byteLength(JSON.stringify(rendered))).toBeLessThanOrEqual(28 * 1024);
      const body = rendered.attachments[0]?.content.body ?? [];
      expect(
        body.every(
          ({ type, inlines }) => type === 'RichTextBlock' && inlines.every((one) => one.text !== ''),
        ),
      ).toBe(true);
    });
  });

  it('is well-formed HTML of at most 4096 characters in Telegram', () => {
    assertAll((message) => {
      const { text } = renderTelegram(message, '1');
      expect(withoutMarkup(text).length).toBeLessThanOrEqual(4096);
      expect(text.replace(/<\/?[bi]>|<a href="[^"<>]*">|<\/a>/g, '')).not.toMatch(/[<>]/);
      expect((text.match(/<(b|i|a)[ >]/g) ?? []).length).toBe((text.match(/<\/(b|i|a)>/g) ?? []).length);
      expect(withoutMarkup(text)).not.toMatch(PINGS);
    });
  });

  it('has a subject in one line in an email, and no markup from the texts of the message', () => {
    assertAll((message) => {
      const { subject, html } = renderMail(message, []);
      expect(subject).not.toMatch(/[\r\n]/);
      expect(subject.length).toBeLessThanOrEqual(120);
      expect(html).not.toMatch(/<script|<!channel|<@|<\/b>|javascript:/i);
    });
  });
});

describe('the parts of a message', () => {
  it('are left out if they do not fit, and the message states the number of missing parts', () => {
    const many = Array.from({ length: 50 }, (_, n) => ({
      title: `t${n}`,
      url: null,
      text: 'x'.repeat(400),
      meta: '',
    }));
    const message = {
      title: 't',
      sections: [{ heading: 'h', lines: [], entries: many }],
      more: 7,
      link: null,
      footer: 'f',
    };
    const shown = fitted(
      message,
      (one) => one,
      ({ sections }) => (sections[0]?.entries.length ?? 0) <= 20,
    );
    expect([shown.sections[0]?.entries.length, shown.more]).toEqual([20, 37]);
    expect(renderTelegram(message, '1').text).toMatch(/and \d+ more/);
  });

  it.each([
    ['text', { title: 't', url: `https://e.org/${'('.repeat(1_000)}`, text: '|'.repeat(1_000), meta: '' }],
    [
      'address',
      { title: 'title', url: `https://e.org/${'('.repeat(1_900)}`, text: '|'.repeat(1_000), meta: '' },
    ],
  ])(
    'do not include the %s of the first entry in Discord if the entry would be too long; other entries follow',
    (_, first) => {
      const others = [0, 1, 2].map((n) => ({
        title: `t${n}`,
        url: null,
        text: '',
        meta: '',
      }));
      const entries = [first, ...others];
      const shown = (some: readonly Entry[]) =>
        renderDiscord({
          title: 't',
          sections: [{ heading: '', lines: [], entries: some }],
          more: 0,
          link: null,
          footer: 'f',
        }).embeds?.[0]?.description ?? '';
      const [alone, all] = [shown([first]), shown(entries)];
      expect(alone.replaceAll('\\', '')).toContain(first.title);
      expect(alone).not.toContain('|');
      expect(alone).not.toContain('more');
      expect(all).toBe([alone, '**t0**', '**t1**', '**t2**'].join('\n\n'));
    },
  );

  it('are never cut inside an emoji', () => {
    expect(cut('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 12)).toBe('👩‍👩‍👧‍👦…');
  });

  it('link only to http and https addresses', () => {
    expect([linkable('javascript:alert(1)'), linkable('https://a.example/x y'), linkable(7)]).toEqual([
      null,
      'https://a.example/x%20y',
      null,
    ]);
  });

  it('cannot notify anybody, and have no line break in a subject', () => {
    expect(withoutPings('a@b.example <!here>')).toBe('a@\u2060b.example <\u2060!here>');
    expect(oneLine('Subject\r\nBcc: eve\u0000\u202E')).toBe('Subject Bcc: eve');
  });

  it('include the title or the text of an event, its author and its readings', () => {
    const item = {
      source: 'reddit',
      author: 'ada',
      subreddit: 'lamps',
      selftext: 'Short text',
      url: 'https://r.example',
    };
    const analysis = { sentiment: 'negative', intent: 'bug_report' };
    const message = eventMessage(
      Buffer.from(JSON.stringify({ type: 'post.created', post: item, analysis })),
      'Acme',
    );
    expect(message).toMatchObject({
      title: 'Acme: Reddit',
      sections: [
        {
          entries: [
            {
              title: 'Short text',
              url: 'https://r.example/',
              text: '',
              meta: 'ada · lamps · negative · bug report',
            },
          ],
        },
      ],
    });
    expect(eventMessage(Buffer.from('{}'), 'Acme').sections[0]?.entries[0]?.title).toBe('New on');
  });
});
