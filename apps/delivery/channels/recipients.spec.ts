import { recipientsOf } from './recipients.js';

const channels = [
  { channelId: 'now', mode: 'instant' },
  { channelId: 'later', mode: 'daily' },
];
const event = (more: object = {}) => ({
  type: 'post.created',
  push: true,
  notifyChannelIds: [],
  notifyKeywordChannels: false,
  envelope: Buffer.from('{"type":"channel.disabled","data":{"channelId":"now"}}'),
  ...more,
});
const of = (more: object, webhookEvents: string[] = []) =>
  recipientsOf(event(more), { channels, webhookEvents });

describe('the channels that get an event immediately', () => {
  it('are those with the mode `instant`, if the event is pushed', () => {
    expect([of({}), of({ push: false })]).toEqual([['now'], []]);
  });

  it('are those that a rule or an alert names, without duplicates, even if the event is not pushed [channels.once]', () => {
    expect(of({ notifyChannelIds: ['now', 'other'], notifyKeywordChannels: true })).toEqual([
      'now',
      'other',
      'later',
    ]);
    expect(of({ push: false, notifyChannelIds: ['later'] })).toEqual(['later']);
  });

  it('get an event about the keyword itself only if the keyword, a rule or an alert asks for the event', () => {
    expect([of({ type: 'keyword.paused' }), of({ type: 'keyword.paused' }, ['keyword.paused'])]).toEqual([
      [],
      ['now'],
    ]);
    expect(of({ type: 'keyword.alert_fired', notifyKeywordChannels: true })).toEqual(['now', 'later']);
  });

  it('are all channels of the keyword except the disabled one if the event is `channel.disabled` [channels.disabled-told]', () => {
    expect(of({ type: 'channel.disabled' })).toEqual(['later']);
    expect(
      of({
        type: 'channel.disabled',
        envelope: Buffer.from('{"type":"channel.disabled","data":{"channelId":null}}'),
      }),
    ).toEqual(['now', 'later']);
  });
});
