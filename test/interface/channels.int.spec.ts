import { fromBinary } from '@bufbuild/protobuf';
import { ChannelDecisionSchema } from '#contracts';
import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { until, type Json } from '#testing';
import { keywordBody } from './interface-under-test.js';

import { channelDigestTasks } from './channel-digest-tasks.js';
import { channelFairnessTasks } from './channel-fairness-tasks.js';
import { channelMailTasks } from './channel-mail-tasks.js';
import { channelMessageTasks } from './channel-message-tasks.js';
import { ChannelsScene, instant, SLACK } from './channels-scene.js';

const scene = new ChannelsScene();
const { chat } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());
beforeEach(() => scene.clear());

describe('channels', () => {
  it('are created, read with shortened secrets, changed and deleted, but not by another account [channels.crud, channels.secrets, channels.erased]', async () => {
    const made = await chat('slack', 'secret1234');
    expect(made).toMatchObject({ kind: 'slack', state: 'active', config: { webhookUrl: '…1234' } });
    const path = `/v1/channels/${made.id}`;
    expect((await scene.bob.api.get(path)).status).toBe(404);
    expect((await scene.bob.api.patch(path, { name: 'x' })).status).toBe(404);
    expect((await scene.bob.api.post(`${path}/test`, {})).status).toBe(404);
    expect((await scene.bob.api.delete(path)).status).toBe(404);
    const renamed = await scene.setup.ada.api.patch(path, { name: 'Team', config: { webhook_url: '…1234' } });
    expect(renamed.body).toMatchObject({ name: 'Team', config: { webhookUrl: '…1234' } });
    expect((await scene.setup.ada.api.post(`${path}/test`, {})).body).toMatchObject({
      delivered: true,
      statusCode: 200,
    });
    const replaced = await scene.setup.ada.api.patch(path, { config: { webhook_url: `${SLACK}/other9876` } });
    expect(replaced.body.config).toEqual({ webhookUrl: '…9876' });
    const listed = await scene.setup.ada.api.get('/v1/channels?kind=slack');
    expect(listed.body.data.map(({ id }: Json) => id)).toContain(made.id);
    const rows: { found: boolean }[] = await scene.setup.database.query(
      `SELECT bool_or(c::text LIKE '%other%') AS found FROM channels c`,
    );
    expect(rows).toEqual([{ found: false }]);
    expect((await scene.setup.ada.api.delete(path)).status).toBe(204);
    expect((await scene.setup.ada.api.get(path)).status).toBe(404);
    await until('only the fact of its deletion is left', async () => {
      const facts = await scene.setup.store.read(
        'CHANNELS',
        subjectOf('CHANNELS', scene.setup.ada.accountId, made.id),
      );
      const events = facts.flatMap(({ data }) => fromBinary(ChannelDecisionSchema, data).events);
      return events.map((one) => one.event.case).join() === 'deleted';
    });
  });

  it.each([
    ['slack', {}, 'config.webhook_url'],
    ['slack', { webhook_url: 'http://10.0.0.1/x' }, 'config.webhook_url'],
    ['slack', { webhook_url: '…1234' }, 'config.webhook_url'],
    ['slack', { webhook_url: '…' }, 'config.webhook_url'],
    ['telegram', { bot_token: '…', chat_id: '1' }, 'config.bot_token'],
    ['webhook', { url: 'http://169.254.169.254/latest' }, 'config.url'],
    ['webhook', { url: 'ftp://example.org' }, 'config.url'],
    ['telegram', { bot_token: '1:../../x', chat_id: '1' }, 'config.bot_token'],
    ['telegram', { bot_token: '12345:ABCDEF', chat_id: 'x y' }, 'config.chat_id'],
    ['discord', { webhook_url: 'https://discord.com/api/webhooks/1/x', to: ['a@example.org'] }, 'config.to'],
    ['email', { to: ['Ada <ada@example.org>'] }, 'config.to[0]'],
    ['email', { to: ['ada@example.org\r\nBcc: eve@example.org'] }, 'config.to[0]'],
    ['email', { to: ['ada@example.org', 'ADA@example.org'] }, 'config.to[1]'],
    ['email', { to: [] }, 'config.to'],
    ['sms', { to: ['a@example.org'] }, 'kind'],
  ])(
    'are refused, if their kind is %s and their config %j, with a fault at %s [channels.config]',
    async (kind, config, path) => {
      const { status, body } = await scene.setup.ada.api.post('/v1/channels', { kind, name: 'x', config });
      expect([status, body.details?.map((one: Json) => one.path)]).toEqual([
        400,
        expect.arrayContaining([path]),
      ]);
    },
  );

  it('must exist and belong to the account if a keyword names them [channels.admission]', async () => {
    const { id } = await chat('slack');
    const body = keywordBody(instant(id, newId()));
    expect((await scene.setup.ada.api.post('/v1/keywords', body)).body.details).toEqual([
      { path: 'channels[1].channel_id', message: 'is not a channel of this account' },
    ]);
    const foreign = await scene.bob.api.post('/v1/keywords', keywordBody(instant(id)));
    expect([foreign.status, foreign.body.details?.[0]?.path]).toEqual([400, 'channels[0].channel_id']);
    expect((await scene.setup.ada.api.post('/v1/keywords', keywordBody(instant(id)))).status).toBe(201);
  });
});

channelMessageTasks(scene);
channelMailTasks(scene);
channelFairnessTasks(scene);
channelDigestTasks(scene);
