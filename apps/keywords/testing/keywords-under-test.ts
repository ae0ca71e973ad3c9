import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  CreateKeywordSchema,
  CreateWatchSchema,
  EstimateKeywordSchema,
  PauseKeywordSchema,
  ResumeKeywordSchema,
  RetireWatchSchema,
  type KeywordDefinitionSchema,
} from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { fundAccount, isolateStores } from '#testing';
import { KeywordDecisions, type CommandIds } from '../handlers/keyword-decisions.js';
import { KeywordsHandler } from '../handlers/keywords.handler.js';
import { PausesHandler } from '../handlers/pauses.handler.js';
import { WatchesHandler } from '../handlers/watches.handler.js';
import { Admission } from '../planning/admission.js';
import { KeywordWarnings } from '../planning/keyword-warnings.js';

// For specs only: runs the commands of keywords on separate stores. Loops run only if a spec starts them.

type Definition = Exclude<MessageInitShape<typeof KeywordDefinitionSchema>, { $typeName: string }>;

/** The columns of a row of `keywords` or `watches` that describe its pause. */
export interface PausedRow {
  pauses: string[];
  turnsAt: Date | null;
}

/** Commands and reads for specs. */
export interface KeywordsUnderTest {
  bus: Bus;
  database: Database;
  store: EventStore;
  decisions: KeywordDecisions;
  admission: Admission;
  /** Inserts an account with this balance. The stream of billing contains no ledger of the account. */
  open(plan: string, credits?: number): Promise<string>;
  /** Creates a keyword. @returns the id of the keyword */
  keyword(accountId: string, more?: Definition): Promise<string>;
  /** Executes the create command with this id. @returns the answer of the handler */
  create(ids: CommandIds, more?: Definition): ReturnType<KeywordsHandler['create']>;
  /** Estimates the keyword that `keyword` would create, or the change of an existing keyword. */
  estimate(accountId: string, more?: Definition, keywordId?: string): Promise<void>;
  /** Creates a watch without a keyword. @returns its id */
  loneWatch(accountId: string, query: string): Promise<string>;
  retireWatch(accountId: string, watchId: string): Promise<void>;
  /** Pauses the keyword as a user does. */
  pause(accountId: string, keywordId: string): Promise<void>;
  resume(accountId: string, keywordId: string): Promise<void>;
  /** Pauses the keyword or watch for lack of credits, as if a check could not be paid. */
  pauseForCredits(accountId: string, id: string, creditsNeeded: number): Promise<void>;
  keywordRow(id: string): Promise<PausedRow>;
  watchRow(id: string): Promise<Pick<PausedRow, 'pauses'>>;
  stop(): Promise<void>;
}

/** Creates the stores and the handlers of keywords. */
export async function startKeywords(): Promise<KeywordsUnderTest> {
  const stores = await isolateStores();
  const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  const store = new EventStore(bus);
  const database = await openDatabase(stores.databaseUrl, 'spec');
  const decisions = new KeywordDecisions(database, store);
  const admission = new Admission(new Map(), undefined);
  const keywords = new KeywordsHandler(decisions, admission, new KeywordWarnings(new Map()), store);
  const watches = new WatchesHandler(decisions, admission);
  const pauses = new PausesHandler(decisions, admission);
  const addressed = (accountId: string) => ({ accountId, commandId: newId() });
  const definitionOf = (more: Definition): Definition => ({
    name: 'Acme',
    refreshIntervalSeconds: 3600,
    globalCriteria: { query: newId() },
    sources: [{ source: 'hackernews', enabled: true }],
    webhookMode: 'all',
    ...more,
  });
  const row = async <Row>(sql: string, id: string): Promise<Row> => {
    const rows: Row[] = await database.query(sql, [id]);
    if (!rows[0]) throw new Error(`there is no row of ${id}`);
    return rows[0];
  };
  const createKeyword = (ids: CommandIds, more: Definition = {}) =>
    keywords.create(create(CreateKeywordSchema, { ...ids, definition: definitionOf(more) }));
  return {
    bus,
    database,
    store,
    decisions,
    admission,
    async open(plan, credits = 1000) {
      const accountId = newId();
      await database.query(
        `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at)
         VALUES ($1, $2, $3, '', now())`,
        [accountId, `${accountId}@example.org`, plan],
      );
      await fundAccount(database, accountId, credits);
      return accountId;
    },
    async keyword(accountId, more = {}) {
      const { id } = await createKeyword(addressed(accountId), more);
      return id;
    },
    create: createKeyword,
    async estimate(accountId, more = {}, keywordId = '') {
      const definition = definitionOf(more);
      await keywords.estimate(create(EstimateKeywordSchema, { accountId, keywordId, definition }));
    },
    async loneWatch(accountId, query) {
      const command = create(CreateWatchSchema, {
        ...addressed(accountId),
        source: 'hackernews',
        criteria: { query },
        intervalSeconds: 3600,
      });
      await watches.create(command);
      return command.commandId;
    },
    async retireWatch(accountId, watchId) {
      await watches.retire(create(RetireWatchSchema, { ...addressed(accountId), watchId }));
    },
    async pause(accountId, keywordId) {
      await pauses.pause(create(PauseKeywordSchema, { ...addressed(accountId), keywordId }));
    },
    async resume(accountId, keywordId) {
      await pauses.resume(create(ResumeKeywordSchema, { ...addressed(accountId), keywordId }));
    },
    async pauseForCredits(accountId, id, creditsNeeded) {
      await decisions.run(addressed(accountId), id, () => ({
        kind: 'pause',
        reason: 'insufficient_credits',
        creditsRemaining: 0,
        creditsNeeded,
      }));
    },
    keywordRow: (id) =>
      row('SELECT pauses, schedule_turns_at AS "turnsAt" FROM keywords WHERE keyword_id = $1', id),
    watchRow: (id) => row('SELECT pauses FROM watches WHERE watch_id = $1', id),
    async stop() {
      await bus.close();
      await database.destroy();
      await stores.drop();
    },
  };
}
