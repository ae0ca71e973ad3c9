import { derivedId, Refusal } from '#kernel';
import type { Tx } from '#postgres';
import { currentTraceparent } from '#telemetry';
import { savePending, type PendingDelivery } from '../attempts/pending-deliveries.js';
import { channelEndpoint } from './channel.js';
import type { ChannelRef } from './channel-decisions.js';
import { addressTargetId } from './channels.js';

/** Maximum number of verification mails of an account on a UTC day: to one address, and to all addresses together. */
const MAILS_PER_ADDRESS = 3;
const MAILS_PER_ACCOUNT = 100;

/**
 * Asks the owners of email addresses for consent. The mails are deliveries: they are retried, and each attempt is
 * recorded. The number of mails is limited, because the addresses can belong to other people.
 * @param tx a transaction that has locked the account
 * @throws Refusal `too-many` if these mails would exceed the maximum of an address or of the account for today
 */
export async function askOwners(
  tx: Tx,
  channel: ChannelRef,
  addresses: readonly string[],
  commandId: string,
): Promise<void> {
  if (addresses.length === 0) return;
  await count(tx, channel.accountId, addresses);
  await savePending(
    tx,
    addresses.map((address) => verification(channel, address, commandId)),
  );
}

function verification(
  { accountId, channelId }: ChannelRef,
  address: string,
  commandId: string,
): PendingDelivery {
  const now = Date.now();
  return {
    eventId: derivedId('verification', commandId, address),
    target: { kind: 'verification', id: addressTargetId(channelId, address) },
    accountId,
    // A verification belongs to no watch; its attempts are stored under the channel's id.
    watchId: channelId,
    keywordId: '',
    source: '',
    endpoint: channelEndpoint(channelId),
    channelKind: 'email',
    body: new Uint8Array(),
    attempts: 0,
    firstAt: now,
    dueAt: now,
    pending: true,
    cause: currentTraceparent(),
  };
}

async function count(tx: Tx, accountId: string, addresses: readonly string[]): Promise<void> {
  const today = `(now() AT TIME ZONE 'UTC')::date`;
  await tx.query(`DELETE FROM verification_mails WHERE account_id = $1 AND day < ${today}`, [accountId]);
  const rows: { address: string; mails: number }[] = await tx.query(
    `INSERT INTO verification_mails AS v (account_id, address, day, mails)
     SELECT $1, address, ${today}, 1 FROM unnest($2::text[]) AS address
     ON CONFLICT (account_id, day, address) DO UPDATE SET mails = v.mails + 1 RETURNING address, mails`,
    [accountId, addresses.map((address) => address.toLowerCase())],
  );
  const full = rows.find(({ mails }) => mails > MAILS_PER_ADDRESS);
  const [sum]: { mails: number }[] = await tx.query(
    'SELECT sum(mails)::int AS mails FROM verification_mails WHERE account_id = $1',
    [accountId],
  );
  if (full || (sum?.mails ?? 0) > MAILS_PER_ACCOUNT)
    throw new Refusal(
      'too-many',
      'TOO_MANY_REQUESTS',
      full
        ? `${full.address} has got ${MAILS_PER_ADDRESS} verification mails today; try again tomorrow`
        : `an account can send at most ${MAILS_PER_ACCOUNT} verification mails a day; try again tomorrow`,
    );
}
