import type { JsMsg } from '@nats-io/jetstream';
import { EventStore } from '#event-store';
import { newId, Refusal } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { execute } from '../execute.js';
import { TALLIES_TABLE, tallies, tally } from './tallies.js';

/** A tally in real stores. Each test has a new tally. */
export class TallyScene {
  bus!: Bus;
  store!: EventStore;
  database!: Database;
  accountId = '';
  id = '';
  private stores: IsolatedStores | undefined;

  async start(): Promise<void> {
    this.stores = await isolateStores();
    this.bus = await connectBus(this.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    this.store = new EventStore(this.bus);
    this.database = await openDatabase(this.stores.databaseUrl, 'spec');
    await this.database.query(TALLIES_TABLE);
  }

  async stop(): Promise<void> {
    await this.bus?.close();
    await this.database?.destroy();
    await this.stores?.drop();
  }

  /** Chooses another account and another tally. */
  begin(): void {
    this.accountId = newId();
    this.id = newId();
  }

  /** Executes a command that adds to the tally. @returns the total of the tally */
  readonly add = (amount: number, commandId = newId(), aggregate = tally): Promise<number> =>
    execute(this.database, this.store, {
      aggregate,
      projection: tallies,
      accountId: this.accountId,
      subjectTokens: [this.id],
      commandId,
      decide(total) {
        if (total + amount > 100) throw Refusal.conflict('too much');
        return amount === 0 ? [] : [{ amount }];
      },
      decisionOf: (events) => ({ commandId, id: this.id, events }),
    });

  /** Returns the amounts in the stream. */
  readonly stored = async (): Promise<number[]> =>
    (await this.store.read('KEYWORDS', this.subject)).flatMap(({ data }) =>
      tally.decode(data).events.map(({ amount }) => amount),
    );

  /** Returns the row of the tally in the table. */
  readonly row = async (): Promise<{ total: number; notes: string } | undefined> => {
    const rows: { total: number; notes: string }[] = await this.database.query(
      'SELECT total, notes FROM tallies WHERE id = $1',
      [this.id],
    );
    return rows[0];
  };

  /** Appends without updating the tables, like a process that dies after the append. */
  readonly appendAndDie = async (amount: number, commandId = newId()): Promise<void> => {
    const last = await this.store.lastSeq('KEYWORDS', this.subject);
    const decision = tally.encode({ commandId, id: this.id, events: [{ amount }] });
    await this.store.append(this.subject, decision, last, commandId);
  };

  /** Returns the messages of the subject in the form that a consumer gets. */
  readonly messages = async (): Promise<JsMsg[]> => {
    const consumer = await this.bus.js.consumers.get('KEYWORDS', { filter_subjects: this.subject });
    const waiting = (await consumer.info()).num_pending;
    const found: JsMsg[] = [];
    while (found.length < waiting) {
      const message = await consumer.next();
      if (message) found.push(message);
    }
    return found;
  };

  private get subject(): string {
    return subjectOf('KEYWORDS', this.accountId, this.id);
  }
}
