import { CHANNEL_KINDS } from '#contracts';
import type { Route } from '../operation.js';
import { inPath, inQuery, paging } from '../parameters.js';
import {
  BOOLEAN,
  described,
  FREE_FORM,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  nullable,
  NUMBER,
  object,
  oneOf,
  pageOf,
  ref,
  TEXT,
  type Schema,
} from '../schema.js';

const STATES = ['active', 'unverified', 'disabled'];

export const channelSchemas: Readonly<Record<string, Schema>> = {
  Channel: object({
    id: ID,
    kind: oneOf(CHANNEL_KINDS),
    name: TEXT,
    config: described(
      'email: `to`. slack, discord, teams: `webhookUrl`. telegram: `botToken`, `chatId`. webhook: `url`. Secrets are shortened to `…` and their last four characters',
      FREE_FORM,
    ),
    state: described(
      '`unverified`: no email address is verified yet. `disabled`: nothing is sent until the channel is enabled',
      oneOf(STATES),
    ),
    addresses: described(
      'The addresses of an email channel; empty for other kinds',
      listOf(
        object({
          address: TEXT,
          state: described(
            'Only verified addresses get messages. `refused`: the mail server has refused the address permanently',
            oneOf(['unverified', 'verified', 'unsubscribed', 'refused']),
          ),
        }),
      ),
    ),
    disabledReason: nullable(TEXT),
    disabledAt: nullable(INSTANT),
    createdAt: INSTANT,
    updatedAt: INSTANT,
  }),
  ChannelTest: object({
    delivered: described('True if the service accepted the message', BOOLEAN),
    statusCode: described(
      'HTTP status, or reply code of the mail server; null without an answer',
      nullable(INTEGER),
    ),
    durationMs: INTEGER,
    message: TEXT,
  }),
  Report: object({
    id: ID,
    keywordId: ID,
    channelId: ID,
    period: object({ from: INSTANT, to: INSTANT }),
    url: described(
      'Address of the report’s page. The address contains a secret, so the page needs no key',
      TEXT,
    ),
    createdAt: INSTANT,
  }),
  ReportFigures: object({
    id: ID,
    keywordId: ID,
    channelId: ID,
    period: object({ from: INSTANT, to: INSTANT }),
    url: TEXT,
    createdAt: INSTANT,
    volume: object({
      count: INTEGER,
      previous: described('Number of mentions in the week before', INTEGER),
      days: listOf(
        object({
          date: TEXT,
          count: INTEGER,
          previous: described('Number of mentions on the same day of the week before', INTEGER),
        }),
      ),
    }),
    sentiment: object({
      positive: INTEGER,
      neutral: INTEGER,
      negative: INTEGER,
      mixed: INTEGER,
      unread: described('Mentions whose sentiment was not read', INTEGER),
    }),
    sources: listOf(object({ source: TEXT, count: INTEGER })),
    authors: listOf(object({ author: TEXT, source: TEXT, count: INTEGER, vip: BOOLEAN })),
    stories: listOf(object({ storyId: TEXT, title: TEXT, url: nullable(TEXT), count: INTEGER })),
    alerts: listOf(object({ at: INSTANT, name: TEXT, observed: NUMBER, baseline: NUMBER })),
  }),
};

const inId = inPath('id', 'Id of the channel');

export const channelRoutes: readonly Route[] = [
  {
    tag: 'Channels',
    method: 'post',
    path: '/v1/channels',
    operationId: 'createChannel',
    summary: 'Create a channel',
    description:
      'Each address of an email channel gets a mail with a link for confirmation. The channel is `unverified` until one address is confirmed. An account has at most 100 channels. In a day, at most 3 verification mails go to one address and at most 100 to all addresses of an account; after that the answer is 429.',
    body: ref('ChannelBody'),
    example: { kind: 'webhook', name: 'Operations', config: { url: 'https://example.com/hooks/earshot' } },
    status: 201,
    answer: ref('Channel'),
  },
  {
    tag: 'Channels',
    method: 'get',
    path: '/v1/channels',
    operationId: 'listChannels',
    summary: 'List channels, newest first',
    description: 'Secrets in `config` are shortened to their last four characters. Free.',
    parameters: [
      inQuery('kind', 'Only channels of this kind', oneOf(CHANNEL_KINDS)),
      inQuery('state', 'Only channels in this state', oneOf(STATES)),
      ...paging(),
    ],
    answer: pageOf('data', ref('Channel')),
  },
  {
    tag: 'Channels',
    method: 'get',
    path: '/v1/channels/{id}',
    operationId: 'getChannel',
    summary: 'Get a channel',
    description: 'Secrets in `config` are shortened to their last four characters. Free.',
    parameters: [inId],
    answer: ref('Channel'),
  },
  {
    tag: 'Channels',
    method: 'patch',
    path: '/v1/channels/{id}',
    operationId: 'changeChannel',
    summary: 'Change the name of a channel, or replace its config',
    description:
      'If you send a secret in its shortened form, the stored secret does not change. A new config also enables a disabled channel. But an email channel stays disabled if all its addresses have unsubscribed or were refused. New email addresses must be verified.',
    parameters: [inId],
    body: ref('ChannelChange'),
    example: { name: 'Operations' },
    answer: ref('Channel'),
  },
  {
    tag: 'Channels',
    method: 'delete',
    path: '/v1/channels/{id}',
    operationId: 'deleteChannel',
    summary: 'Delete a channel. Keywords that use the channel do not send messages to it any more',
    description: 'Messages that wait for another attempt are not sent. Free.',
    parameters: [inId],
    status: 204,
  },
  {
    tag: 'Channels',
    method: 'post',
    path: '/v1/channels/{id}/enable',
    operationId: 'enableChannel',
    summary: 'Enable a disabled channel',
    description:
      'A channel is disabled when its service reports that the address does not exist any more, or after 5 days of failures. An email channel is also disabled if all its addresses have unsubscribed or were refused by the mail server. After you have enabled the channel, its refused addresses must be confirmed again. Messages that could not be sent meanwhile are not sent again. Free.',
    parameters: [inId],
    answer: ref('Channel'),
    refusals: [404],
  },
  {
    tag: 'Channels',
    method: 'post',
    path: '/v1/channels/{id}/test',
    operationId: 'testChannel',
    summary: 'Send a sample message, and return the answer of the service',
    description:
      'For an email channel, sends the verification again to each unverified address. Returns 429 after 20 tests of webhooks and channels of the account in a minute.',
    parameters: [inId],
    answer: ref('ChannelTest'),
    refusals: [404],
  },
  {
    tag: 'Reports',
    method: 'get',
    path: '/v1/reports',
    operationId: 'listReports',
    summary: 'List the weekly reports of the last 90 days, newest first',
    description: 'A keyword has reports if one of its channels has the mode `weekly_report`. Free.',
    parameters: [inQuery('keyword', 'Only reports of this keyword', ID), ...paging()],
    answer: pageOf('data', ref('Report')),
  },
  {
    tag: 'Reports',
    method: 'get',
    path: '/v1/reports/{id}',
    operationId: 'getReport',
    summary: 'Get a weekly report with its figures',
    description:
      'The figures are the same as in the message that was sent. The page of the report has a separate address, which needs no key. Free.',
    parameters: [inPath('id', 'Id of the report')],
    answer: ref('ReportFigures'),
  },
];
