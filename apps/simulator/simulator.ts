import type { AddressInfo } from 'node:net';
import { systemClock } from '#kernel';
import type { Clock } from '#kernel';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { chatRoutes } from './channels/chat-service.js';
import { Inbox, type ReceivedMessage } from './channels/inbox.js';
import { CHAT_SERVICES } from './channels/index.js';
import { startMail } from './channels/smtp.js';
import { routeByContentType } from './content-types.js';
import type { RequestLimits, SimContext } from './context.js';
import { controlRoutes } from './control.js';
import { llmServer } from './llm/routes.js';
import { faultHooks, Faults } from './faults.js';
import { Receiver, receiverRoutes } from './receiver/receiver.js';
import type { Delivery } from './receiver/receiver.js';
import { RequestLog } from './request-log.js';
import type { LoggedRequest } from './request-log.js';
import { SIMULATED } from './sources/index.js';
import { World } from './world/world.js';
import type { WorldOptions } from './world/world.js';

/** The options of a simulator. */
export interface SimulatorOptions {
  /** Default: 0, which chooses a free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Port of the mail server. Default: 0, which chooses a free port. */
  smtpPort?: number;
  seed?: number;
  /**
   * Posts per second of each source: one number for all sources, or a number by source. Default 0: only posts that tests
   * publish.
   */
  ratePerSecond?: WorldOptions['ratePerSecond'];
  clock?: Clock;
  /** Posts of each source before the start (default 0), and the hours over which they are spread (default 48). */
  historyPosts?: number;
  historyHours?: number;
  /** Signing secret that is valid for every hook. */
  secret?: string;
  limits?: Partial<RequestLimits>;
  /** Maximum numbers of posts of each source, of deliveries of each hook, and of requests in memory. */
  kept?: { posts: number; deliveries: number; requests: number };
  /** Is called with a readable line about each delivery to a hook and each message of a channel. */
  log?: (line: string) => void;
}

/** A running simulator. */
export interface Simulator {
  /** Base address of every upstream and of the hooks, without a slash at the end. */
  url: string;
  port: number;
  world: World;
  receiver: Receiver;
  /** Messages of channels: mails, and messages to chat services. */
  inbox: Inbox;
  /** `SMTP_URL` of the simulated mail server. */
  smtpUrl: string;
  faults: Faults;
  requests: RequestLog;
  /** Closes all connections, including hanging connections. */
  stop(): Promise<void>;
}

/** The limits of the upstreams; for X, the limits of a large plan. */
const LIMITS: RequestLimits = {
  reddit: 1000,
  bluesky: 3000,
  x: 10_000,
  mastodon: 300,
  lemmy: 60,
  github: 30,
  producthunt: 6250,
  stackoverflow: 10_000,
};

/**
 * Starts the sources, the language model, the webhook receiver, the chat services and the control routes (`/_sim`) on
 * one port, and a mail server on another port.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { clock = systemClock, seed = 1, ratePerSecond = 0, historyPosts = 0, historyHours = 48 } = options;
  const { log, kept } = options;
  const app = Fastify({
    forceCloseConnections: true,
    bodyLimit: 8 * 1024 * 1024,
    routerOptions: { ignoreTrailingSlash: true },
    rewriteUrl: ({ url = '/' }) => withoutJsonSuffix(url),
  });
  const world = new World({ seed, ratePerSecond, clock, historyPosts, historyHours, keptPosts: kept?.posts });
  const onDelivery = log && ((delivery: Delivery) => log(lineOf(delivery)));
  const receiver = new Receiver({
    clock,
    secret: options.secret,
    onDelivery,
    keptDeliveries: kept?.deliveries,
  });
  const faults = new Faults();
  const requests = new RequestLog(clock, kept?.requests);
  let url = '';
  const limits = { ...LIMITS, ...options.limits };
  const context: SimContext = { world, clock, limits, baseUrl: () => url };

  readForms(app);
  routeByContentType(app);
  keepLog(app, requests, faults);
  for (const simulated of [...Object.values(SIMULATED), llmServer]) simulated.routes(app, context);
  const inbox = new Inbox(clock, log && ((message) => log(messageLine(message))));
  for (const chat of Object.values(CHAT_SERVICES)) chatRoutes(app, chat, inbox);
  controlRoutes(app, { world, faults, log: requests, receiver, inbox });
  await receiverRoutes(app, receiver);
  url = await app.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const mail = await startMail(inbox, options.host ?? '127.0.0.1', options.smtpPort);
  return {
    ...{ url, port, smtpUrl: mail.url, world, receiver, inbox, faults, requests },
    stop: async () => {
      await Promise.all([app.close(), mail.stop()]);
    },
  };
}

/** Logs every request to a simulated service when it arrives, and later its status and its fault. */
function keepLog(app: FastifyInstance, requests: RequestLog, faults: Faults): void {
  const open = new WeakMap<FastifyRequest, LoggedRequest>();
  app.addHook('onRequest', async (request) => {
    const { source, signIn = false } = request.routeOptions.config;
    if (source)
      open.set(request, requests.begin({ source, method: request.method, url: request.url, signIn }));
  });
  app.addHook('onResponse', async (request, reply) => {
    const logged = open.get(request);
    if (logged) logged.status = reply.statusCode;
  });
  faultHooks(app, faults, (request, kind) => {
    const logged = open.get(request);
    if (logged) logged.fault = kind;
  });
}

/** Passes sign-in forms on as text; their routes parse them. */
function readForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      done(null, body);
    },
  );
}

/**
 * Removes `.json` from the end of Reddit's paths of posts and searches, where clients can add it. Paths of feeds, and
 * search terms, can also end in `.json`; they do not change.
 */
function withoutJsonSuffix(url: string): string {
  return url.startsWith('/r/') || url.startsWith('/comments/') || url.startsWith('/search')
    ? url.replace(/^([^?]*)\.json(?=\?|$)/, '$1')
    : url;
}

function lineOf({ hook, type, body, verified, verdict, status, headers }: Delivery): string {
  const result = verified ? '✓ verified' : `✗ not verified (${verdict.faults.join('; ')})`;
  const replay = headers['x-replay'] === undefined ? '' : ' (replay)';
  const answer = status >= 200 && status < 300 ? '' : `, answered ${status === 0 ? 'nothing' : status}`;
  return `${result} ${type} "${excerptOf(body)}" → /hooks/${hook}${replay}${answer}`;
}

/** Returns one line about a message of a channel. */
function messageLine({ service, to, status, fault, text }: ReceivedMessage): string {
  const answer = status === 0 ? 'nothing' : status;
  const result = fault ? `✗ ${fault}` : status >= 200 && status < 300 ? '✓' : `✗ answered ${answer}`;
  const words = text.replace(/\s+/g, ' ').trim();
  return `${result} ${service} → ${to}: "${words.length > 80 ? `${words.slice(0, 79)}…` : words}"`;
}

/** Returns the title, text or summary of the event's item in at most 60 characters; empty if the body has none. */
function excerptOf(body: string): string {
  try {
    const envelope = JSON.parse(body) as Record<string, unknown>;
    for (const key of ['item', 'post', 'article', 'tweet', 'video', 'listing', 'answer', 'data']) {
      const about = envelope[key] as
        | { title?: unknown; text?: unknown; summary?: unknown }
        | null
        | undefined;
      const text = [about?.title, about?.text, about?.summary].find(
        (each) => typeof each === 'string' && each !== '',
      );
      if (typeof text === 'string') return text.length > 60 ? `${text.slice(0, 59)}…` : text;
    }
  } catch {
    // The body is not JSON, so the line has no excerpt.
  }
  return '';
}
