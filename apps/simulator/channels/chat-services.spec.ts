import { discord } from './discord.js';
import { slack } from './slack.js';
import { teams } from './teams.js';
import { telegram } from './telegram.js';

const long = (length: number) => 'x'.repeat(length);

const header = (text: string) => ({ type: 'header', text: { type: 'plain_text', text } });
const rich = (...elements: object[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});
const ofSlack = (...blocks: object[]) => ({ text: 'Acme', blocks });

const ofDiscord = (...embeds: object[]) => ({ embeds, allowed_mentions: { parse: [] } });

const run = (more: object = {}) => ({ type: 'TextRun', text: 'Acme', ...more });
const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines });
const ofTeams = (body: object[], more: object = {}) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: { type: 'AdaptiveCard', version: '1.4', body, ...more },
    },
  ],
});
const opens = (url: string) => ({ selectAction: { type: 'Action.OpenUrl', url } });

/** Returns a message whose JSON has this number of bytes. */
const sizedForTeams = (bytes: number) => {
  const sized = (length: number) => ofTeams([block(run({ text: long(length) }))]);
  return sized(bytes - JSON.stringify(sized(0)).length);
};

const ofTelegram = (text: string) => ({ chat_id: '-100', parse_mode: 'HTML', text });

describe('the simulated chat service', () => {
  it.each([
    [
      'slack',
      'a header of 150 characters',
      slack,
      ofSlack(header(long(150)), rich({ type: 'text', text: 'a' })),
    ],
    ['discord', 'a description of 4,096 characters', discord, ofDiscord({ description: long(4096) })],
    [
      'teams',
      'known values with a small or a capital first letter',
      teams,
      ofTeams([block(run({ weight: 'Bolder', size: 'large', ...opens('https://a.example') }))]),
    ],
    ['teams', 'a message of 28 KiB', teams, sizedForTeams(28 * 1024)],
    ['telegram', '4,096 visible characters', telegram, ofTelegram(`<b>${long(4094)}</b> &lt;`)],
  ])('%s accepts %s', (_, __, service, message) => {
    expect(service.read(message).fault).toBeUndefined();
  });

  it.each([
    ['slack', 'a message without text and without blocks', slack, {}],
    ['slack', '51 blocks', slack, ofSlack(...Array(51).fill(header('a')))],
    ['slack', 'a header of 151 characters', slack, ofSlack(header(long(151)))],
    ['slack', 'an empty text element', slack, ofSlack(rich({ type: 'text', text: '' }))],
    ['slack', 'a link that is not http', slack, ofSlack(rich({ type: 'link', url: 'javascript:a' }))],
    ['slack', 'an unknown block', slack, ofSlack({ type: 'box' })],
    ['discord', 'an empty message', discord, ofDiscord()],
    ['discord', 'a description of 4,097 characters', discord, ofDiscord({ description: long(4097) })],
    ['discord', 'an author of 257 characters', discord, ofDiscord({ author: { name: long(257) } })],
    [
      'discord',
      'embeds of 6,001 characters in total',
      discord,
      ofDiscord(...[3000, 3001].map((n) => ({ description: long(n) }))),
    ],
    ['discord', '11 embeds', discord, ofDiscord(...Array(11).fill({ title: 'a' }))],
    ['teams', 'a message without a card', teams, { type: 'message', attachments: [] }],
    ['teams', 'a card without a version', teams, ofTeams([block(run())], { version: undefined })],
    ['teams', 'a card with an empty body', teams, ofTeams([])],
    ['teams', 'an empty text run', teams, ofTeams([block(run({ text: '' }))])],
    ['teams', 'an unknown key', teams, ofTeams([block(run({ bold: true }))])],
    ['teams', 'an unknown weight', teams, ofTeams([block(run({ weight: 'Bold' }))])],
    ['teams', 'a flag that is a string', teams, ofTeams([block(run({ isSubtle: 'true' }))])],
    ['teams', 'a link that is not http', teams, ofTeams([block(run(opens('javascript:a')))])],
    ['teams', 'an unknown element', teams, ofTeams([{ type: 'Box' }])],
    ['teams', 'a message of one byte more than 28 KiB', teams, sizedForTeams(28 * 1024 + 1)],
    ['telegram', 'a message without visible text', telegram, ofTelegram('<b></b>')],
    ['telegram', '4,097 visible characters', telegram, ofTelegram(long(4097))],
    ['telegram', 'an unknown tag', telegram, ofTelegram('<div>a</div>')],
    ['telegram', 'a tag that is not closed', telegram, ofTelegram('<b>a')],
    ['telegram', 'tags that are closed out of order', telegram, ofTelegram('<b><i>a</b></i>')],
    ['telegram', 'an angle bracket that is not escaped', telegram, ofTelegram('a < b')],
  ])('%s refuses %s', (_, __, service, message) => {
    expect(service.read(message as Record<string, unknown>).fault).toEqual(expect.any(String));
  });

  it.each([
    ['slack', slack, { text: 'a <!channel> <@U1> b' }, 2],
    ['slack', slack, ofSlack(rich({ type: 'broadcast', range: 'here' })), 1],
    ['discord', discord, { content: '@everyone <@1>' }, 2],
    ['teams', teams, ofTeams([block(run())], { msteams: { entities: [{ type: 'mention' }] } }), 1],
    ['telegram', telegram, ofTelegram('@ada_lovelace'), 1],
  ])('%s finds the parts that would notify people', (_, service, message, count) => {
    expect(service.read(message as Record<string, unknown>).pings.length).toBe(count);
  });
});
