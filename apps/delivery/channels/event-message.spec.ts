import { EVENT_TYPES_OF } from '#contracts';
import { eventMessage } from './event-message.js';
import { renderDiscord } from './discord/render.js';
import { renderMail } from './email/render.js';
import { renderSlack } from './slack/render.js';
import { renderTeams } from './teams/render.js';
import { renderTelegram } from './telegram/render.js';

const messageOf = (event: object, disabledName?: string) =>
  eventMessage(Buffer.from(JSON.stringify(event)), 'Acme', disabledName);
const metaOf = (event: object) => messageOf(event).sections[0]?.entries[0]?.meta;
const listing = { source: 'vinted', title: 'Nike Air', author: 'ada', price: 15, currency: 'EUR' };
const answer = {
  source: 'ai_answers',
  engine: 'perplexity',
  prompt: 'Which desk lamp?',
  text: 'Buy Acme.',
  brand: 'Acme',
};

describe('the message of an event', () => {
  it.each([
    ['listing.created', { listing }, 'ada · 15.00 EUR'],
    ['listing.delisted', { listing }, 'no longer listed · ada · 15.00 EUR'],
    ['listing.price_changed', { listing, previousPrice: 20 }, 'price changed: 20.00 to 15.00 EUR · ada'],
    ['answer.created', { answer: { ...answer, brand: null } }, 'first answer · perplexity'],
    ['answer.changed', { answer: { ...answer, brand: null } }, 'answer changed · perplexity'],
    ['term.cited', { answer }, 'cites Acme · perplexity'],
    ['term.uncited', { answer }, 'no longer cites Acme · perplexity'],
  ])('says what happened if the event has the type %s', (type, event, meta) => {
    expect(metaOf({ type, ...event })).toBe(meta);
  });

  it('shows the question, the answer and the engine if an AI engine answered', () => {
    const [entry] = messageOf({ type: 'term.cited', answer }).sections[0]?.entries ?? [];
    expect(entry).toMatchObject({ title: 'Which desk lamp?', text: 'Buy Acme.' });
    expect(entry?.meta).toContain('perplexity');
  });

  it('says what happened in every kind of chat and in a mail, for each type of event except `*.created`', () => {
    const types = Object.values(EVENT_TYPES_OF).flat();
    for (const type of types.filter((one) => !one.endsWith('.created'))) {
      const message = messageOf({ type, listing, answer, previousPrice: 20 });
      const news = message.sections[0]?.entries[0]?.meta.split(' · ')[0] ?? '';
      const shown = [
        JSON.stringify(renderSlack(message)),
        renderDiscord(message).embeds?.[0]?.description?.replaceAll('\\', ''),
        JSON.stringify(renderTeams(message)),
        renderTelegram(message, '1').text,
        renderMail(message, []).text,
        renderMail(message, []).html,
      ];
      expect(news).toMatch(/^(no longer|price changed|answer changed|cites)/);
      for (const text of shown) expect(text).toContain(news);
    }
  });

  it('contains the name and id of a disabled channel, or the address of a disabled webhook without query and password', () => {
    const disabled = (data: object, name?: string) =>
      messageOf({ type: 'channel.disabled', data: { reason: 'gone', ...data } }, name).sections[0]?.lines;
    const id = '0190f3a0-0000-7000-8000-000000000001';
    expect(disabled({ kind: 'slack', channelId: id }, 'team')).toContain(`Channel: team (${id})`);
    expect(disabled({ kind: 'slack', channelId: id })).toContain(`Channel: ${id}`);
    const url = 'https://user:word@example.org/hook?token=secret';
    expect(disabled({ kind: 'webhook', channelId: null, url })).toContain(
      'Channel: https://example.org/hook',
    );
  });
});
