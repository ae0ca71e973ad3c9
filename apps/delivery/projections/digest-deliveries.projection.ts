import { fromBinary } from '@bufbuild/protobuf';
import { DigestAssembledSchema, type DigestAssembled } from '#contracts';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';
import { savePending, type PendingDelivery } from '../attempts/pending-deliveries.js';
import { channelEndpoint, type ChannelKind } from '../channels/channel.js';
import { addressTargetId } from '../channels/channels.js';
import { GIVE_UP_AFTER_MS } from '../domain/retry-schedule.js';

/**
 * After a loss of Postgres, DIGESTS is read from its beginning, and digests that are older than this time get no
 * delivery. Otherwise the digests of 90 days would be sent again. A delivery is given up after the same time.
 */
const MAX_AGE_MS = GIVE_UP_AFTER_MS;

/**
 * Creates the deliveries of each digest exactly once: the rows and the position in DIGESTS are stored in one
 * transaction, so a message that arrives again creates no second delivery. This projection cannot be rebuilt, because
 * the rows of sent digests are deleted.
 */
export const digestDeliveriesProjection: Projection = {
  name: 'digest-deliveries-v1',
  stream: 'DIGESTS',
  async apply(tx, messages) {
    const oldest = Date.now() - MAX_AGE_MS;
    const digests = messages
      .map(({ data, cause, reread }) => ({ digest: fromBinary(DigestAssembledSchema, data), cause, reread }))
      .filter(({ digest, reread }) => !reread || Date.parse(digest.assembledAt) > oldest);
    if (digests.length === 0) return;
    const targets = await targetsOf(
      tx,
      digests.map(({ digest }) => digest.channelId),
    );
    await savePending(
      tx,
      digests.flatMap(({ digest, cause }) =>
        (targets.get(digest.channelId) ?? []).map((target) => deliveryOf(digest, target, cause)),
      ),
    );
  },
};

interface ChannelTarget {
  kind: ChannelKind;
  targetId: string;
}

/**
 * Returns the targets of channels. The targets of an email channel are its verified addresses. If no address is
 * verified, all its addresses are targets: nothing is sent to them, but the reason is recorded for each address. A
 * deleted channel has no target.
 */
async function targetsOf(
  tx: Tx,
  channelIds: readonly string[],
): Promise<ReadonlyMap<string, ChannelTarget[]>> {
  const rows: { channel_id: string; kind: ChannelKind; addresses: string[] }[] = await tx.query(
    `SELECT c.channel_id, c.kind,
       coalesce(array_agg(a.address) FILTER (WHERE a.state = 'verified'), c.addresses) AS addresses
     FROM channels c LEFT JOIN channel_addresses a ON a.channel_id = c.channel_id AND a.address = ANY (c.addresses)
     WHERE c.channel_id = ANY ($1) GROUP BY c.channel_id, c.kind`,
    [[...new Set(channelIds)]],
  );
  return new Map(
    rows.map(({ channel_id: id, kind, addresses }) => [
      id,
      (kind === 'email' ? addresses.map((address) => addressTargetId(id, address)) : [id]).map(
        (targetId) => ({
          kind,
          targetId,
        }),
      ),
    ]),
  );
}

function deliveryOf(
  { digestId, accountId, keywordId, channelId, body }: DigestAssembled,
  { kind: channelKind, targetId }: ChannelTarget,
  cause: string | undefined,
): PendingDelivery {
  return {
    eventId: digestId,
    target: { kind: 'digest', id: targetId },
    accountId,
    // A digest belongs to no watch; its attempts are stored under the keyword's id.
    watchId: keywordId,
    keywordId,
    source: '',
    endpoint: channelEndpoint(channelId),
    channelKind,
    body,
    attempts: 0,
    firstAt: Date.now(),
    pending: true,
    cause,
  };
}
