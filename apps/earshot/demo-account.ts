import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, fromJson, type JsonObject } from '@bufbuild/protobuf';
import {
  AcceptInvitationSchema,
  CreateKeywordSchema,
  EstimateKeywordSchema,
  InviteMemberSchema,
  KeywordDefinitionSchema,
  OpenAccountSchema,
  RetireKeywordSchema,
  type KeywordDefinition,
} from '#contracts';
import { newId, Refusal } from '#kernel';
import { COMMANDS, type Bus } from '#messaging';
import { CommandClient } from '#transport';
import { Passwords } from '../gateway/auth/passwords.js';

/** The demo's account, as it is stored in the demo's data directory. So the next start uses the same account. */
export interface DemoAccount {
  accountId: string;
  apiKey: string;
  signingSecret: string;
  /** The simulator's port. The keywords read their feeds from this port and send their webhooks to it. */
  port: number;
  keywordIds: string[];
  /** The email address and the password with which the demo's owner signs in. */
  email: string;
  password: string;
}

/** The sources that the demo watches. */
export const DEMO_SOURCES = 'hackernews, reddit, bluesky, rss, mastodon, x, vinted and ai_answers';

/** The brands that the demo watches. */
export const BRANDS = [
  { name: 'Acme Rocket', terms: ['Acme Rocket', 'AcmeRocket'] },
  { name: 'Northwind', terms: ['Northwind', 'ノースウィンド'] },
  { name: 'Globex', terms: ['Globex', 'Globex Corp'] },
];
const FEEDS = ['tech-wire.rss', 'gadget-weekly.atom', 'startup-notes.rdf', 'cloud-review.json'];

/** Returns the account of an earlier start; undefined if there is no such account, or if this version cannot use it. */
export function knownAccount(dataDir: string): DemoAccount | undefined {
  try {
    const known = JSON.parse(readFileSync(file(dataDir), 'utf8')) as Partial<DemoAccount>;
    return known.apiKey && known.port && known.keywordIds && known.password
      ? (known as DemoAccount)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the demo's account, whose keywords use the simulator at `url`. The first start opens the account. Keywords of
 * an earlier start that use another address are retired, because their feeds and webhooks would fail. Keywords that were
 * purged are created again.
 */
export async function demoAccount(bus: Bus, dataDir: string, url: string): Promise<DemoAccount> {
  const known = knownAccount(dataDir);
  const port = Number(new URL(url).port);
  const { accountId, apiKey, signingSecret, email, password } = known ?? (await openAccount(bus));
  const keywordIds: string[] = [];
  for (const [n, brand] of BRANDS.entries()) {
    const definition = definitionOf(brand, url);
    const earlier = known?.keywordIds[n];
    const exists = earlier !== undefined && (await isKeyword(bus, accountId, earlier, definition));
    if (exists && known?.port === port) {
      keywordIds.push(earlier);
      continue;
    }
    if (exists) await retireKeyword(bus, accountId, earlier);
    keywordIds.push(await createKeyword(bus, accountId, definition));
  }
  const account = { accountId, apiKey, signingSecret, port, keywordIds, email, password };
  writeFileSync(`${file(dataDir)}.new`, JSON.stringify(account), { mode: 0o600 });
  renameSync(`${file(dataDir)}.new`, file(dataDir));
  return account;
}

function file(dataDir: string): string {
  return join(dataDir, 'demo-account.json');
}

/** Opens the account, and creates its owner with a password. */
async function openAccount(bus: Bus) {
  const commands = new CommandClient(bus);
  const email = `demo-${newId()}@example.org`;
  const password = randomBytes(9).toString('base64url');
  const opened = await commands.request(
    COMMANDS.openAccount,
    create(OpenAccountSchema, { commandId: newId(), email, plan: 'unlimited' }),
  );
  const { accountId } = opened;
  const { code } = await commands.request(
    COMMANDS.inviteMember,
    create(InviteMemberSchema, { commandId: newId(), accountId, email, role: 'owner' }),
  );
  const passwordHash = await new Passwords().hash(password);
  await commands.request(
    COMMANDS.acceptInvitation,
    create(AcceptInvitationSchema, { commandId: newId(), code, email, passwordHash }),
  );
  return { ...opened, email, password };
}

/** Returns false if the keyword was purged. The estimate of a change, which changes nothing, finds this out. */
async function isKeyword(
  bus: Bus,
  accountId: string,
  keywordId: string,
  definition: KeywordDefinition,
): Promise<boolean> {
  const command = create(EstimateKeywordSchema, { accountId, keywordId, definition });
  return new CommandClient(bus).request(COMMANDS.estimateKeyword, command).then(
    () => true,
    (error: unknown) => !(error instanceof Refusal && error.kind === 'not-found'),
  );
}

async function retireKeyword(bus: Bus, accountId: string, keywordId: string): Promise<void> {
  const command = create(RetireKeywordSchema, { commandId: newId(), accountId, keywordId, purge: false });
  await new CommandClient(bus).request(COMMANDS.retireKeyword, command);
}

async function createKeyword(bus: Bus, accountId: string, definition: KeywordDefinition): Promise<string> {
  const command = create(CreateKeywordSchema, { commandId: newId(), accountId, definition });
  return (await new CommandClient(bus).request(COMMANDS.createKeyword, command)).id;
}

function definitionOf(brand: (typeof BRANDS)[number], url: string): KeywordDefinition {
  const source = (name: string, overrides?: JsonObject, intervalSeconds?: number): JsonObject => ({
    source: name,
    enabled: true,
    searches: overrides ? [{ overridesEnabled: true, overrides }] : [],
    ...(intervalSeconds !== undefined && { refreshIntervalSeconds: intervalSeconds }),
  });
  return fromJson(KeywordDefinitionSchema, {
    name: brand.name,
    refreshIntervalSeconds: 5,
    globalCriteria: { market: 'global', terms: brand.terms },
    sources: [
      source('hackernews'),
      source('reddit'),
      source('bluesky'),
      source('rss', { filters: { feed_urls: FEEDS.map((feed) => `${url}/feeds/${feed}`) } }),
      // The request limits of the following sources are lower, so their intervals are longer.
      source('mastodon', undefined, 15),
      source('x', undefined, 20),
      source('vinted', { market: 'fr' }, 90),
      source(
        'ai_answers',
        { filters: { prompt: `Is ${brand.name} any good?`, brands: BRANDS.map(({ name }) => name) } },
        120,
      ),
    ],
    webhookUrl: `${url}/hooks/demo`,
    webhookMode: 'all',
    subjectRole: 'own',
    sentimentEnabled: true,
    backfill: true,
  });
}
