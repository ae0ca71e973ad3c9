import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { ChangePlanSchema, CheckSchema, GrantCreditsSchema, PRICE_BOOK_VERSION } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { COMMANDS, connectBus, subjectOf } from '#messaging';
import { createLogger } from '#telemetry';
import { CommandClient } from '#transport';

type CheckInit = Exclude<MessageInitShape<typeof CheckSchema>, { $typeName: string }>;

/** Changes an account's credits and plan, as the operator and polling do. */
export interface BillingUnderTest {
  /** @returns the id of the pack */
  grant(accountId: string, amount: number, expiresAt?: string): Promise<string>;
  changePlan(accountId: string, plan: string): Promise<void>;
  /** Publishes a completed check with this cost, as polling does. @returns the id of the check */
  spend(accountId: string, credits: number, more?: CheckInit): Promise<string>;
  /** Publishes a check that failed because it needed more credits than were available. */
  refuse(accountId: string, keywordId: string, watchId: string, creditsNeeded: number): Promise<void>;
  stop(): Promise<void>;
}

/** Connects to the services under test. The caller must call `stop`. */
export async function connectBilling(natsUrl: string): Promise<BillingUnderTest> {
  const bus = await connectBus(natsUrl, 'spec', createLogger('spec', 'silent'));
  const store = new EventStore(bus);
  const publishCheck = async (accountId: string, more: CheckInit): Promise<string> => {
    const at = new Date().toISOString();
    const check = create(CheckSchema, {
      checkId: newId(),
      accountId,
      watchId: newId(),
      source: 'hackernews',
      tick: at,
      finishedAt: at,
      part: 1,
      parts: 1,
      ...more,
    });
    const subject = subjectOf('CHECKS', accountId, check.watchId);
    await store.publish(subject, toBinary(CheckSchema, check), `${check.checkId}:1`);
    return check.checkId;
  };
  return {
    async grant(accountId, amount, expiresAt = '') {
      const command = create(GrantCreditsSchema, { commandId: newId(), accountId, amount, expiresAt });
      return (await new CommandClient(bus).request(COMMANDS.grantCredits, command)).packId;
    },
    async changePlan(accountId, plan) {
      const command = create(ChangePlanSchema, { commandId: newId(), accountId, plan });
      await new CommandClient(bus).request(COMMANDS.changePlan, command);
    },
    spend: (accountId, credits, more = {}) =>
      publishCheck(accountId, {
        costCredits: credits,
        rateCredits: credits,
        units: 1,
        priceBookVersion: PRICE_BOOK_VERSION,
        ...more,
      }),
    async refuse(accountId, keywordId, watchId, creditsNeeded) {
      const failure = {
        kind: 'insufficient_credits',
        reason: 'spec',
        statusCode: 0,
        retryAt: '',
        creditsNeeded,
      };
      await publishCheck(accountId, { keywordId, watchId, failure });
    },
    stop: () => bus.close(),
  };
}
