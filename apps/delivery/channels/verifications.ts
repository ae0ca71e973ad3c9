import { withAccountLock } from '#decisions';
import { derivedId, Refusal } from '#kernel';
import type { Database, Tx } from '#postgres';
import { currentTraceparent } from '#telemetry';
import { savePending, type PendingDelivery } from '../attempts/pending-deliveries.js';
import { channelEndpoint } from './channel.js';
import type { ChannelRef } from './channel-decisions.js';
import { addressTargetId } from './channels.js';

/** Maximum number of verification mails of an account on a UTC day: to one address, and to all addresses together. */
const MAILS_PER_ADDRESS = 3;
const MAILS_PER_ACCOUNT = 100;
/** The present UTC day, in SQL. */
const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

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

/**
 * Asks the owners whom an earlier execution of the command has not asked, because its transaction failed after the
 * append. Asks only for unverified addresses of the channel for which no mail waits, and to which the account has sent
 * no verification mail today.
 * @throws Refusal as `askOwners` does
 */
export async function askMissedOwners(
  database: Database,
  channel: ChannelRef,
  addresses: readonly string[],
  commandId: string,
): Promise<void> {
  if (addresses.length === 0) return;
  const { accountId, channelId } = channel;
  await withAccountLock(database, accountId, async (tx) => {
    const missed: { address: string }[] = await tx.query(
      `SELECT a.address FROM unnest($3::text[], $4::uuid[], $5::text[]) AS k (address, target_id, counted_as)
         JOIN channel_addresses a ON a.channel_id = $2 AND a.address = k.address AND a.state = 'unverified'
         JOIN channels c ON c.channel_id = a.channel_id AND c.account_id = $1 AND a.address = ANY (c.addresses)
       WHERE NOT EXISTS (SELECT 1 FROM pending_deliveries p
           WHERE p.target_kind <> 'webhook' AND p.target_kind = 'verification' AND p.target_id = k.target_id)
         AND NOT EXISTS (SELECT 1 FROM verification_mails v WHERE v.account_id = $1 AND v.address = k.counted_as
           AND v.day = ${TODAY})`,
      [
        ...[accountId, channelId, addresses],
        addresses.map((address) => addressTargetId(channelId, address)),
        addresses.map((address) => address.toLowerCase()),
      ],
    );
    await askOwners(
      tx,
      channel,
      missed.map(({ address }) => address),
      commandId,
    );
  });
}

function verification(
  { accountId, channelId }: ChannelRef,
  address: string,
  commandId: string,
): PendingDelivery {
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
    firstAt: Date.now(),
    pending: true,
    cause: currentTraceparent(),
  };
}

async function count(tx: Tx, accountId: string, addresses: readonly string[]): Promise<void> {
  await tx.query(`DELETE FROM verification_mails WHERE account_id = $1 AND day < ${TODAY}`, [accountId]);
  const rows: { address: string; mails: number }[] = await tx.query(
    `INSERT INTO verification_mails AS v (account_id, address, day, mails)
     SELECT $1, address, ${TODAY}, 1 FROM unnest($2::text[]) AS address
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
