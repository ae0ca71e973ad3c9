import { fromBinary } from '@bufbuild/protobuf';
import { KeywordDecisionSchema, type KeywordEvent } from '#contracts';
import type { Projection } from '#projections';

/** Whoever names an endpoint anew wants it to be tried again: it forgets that the endpoint was disabled. */
export const endpointsProjection: Projection = {
  name: 'endpoints-v1',
  stream: 'KEYWORDS',
  async apply(tx, message) {
    const decision = fromBinary(KeywordDecisionSchema, message.data);
    const named = decision.events.flatMap((event) => webhookUrlOf(event) || []);
    if (named.length > 0)
      await tx.query('DELETE FROM webhook_endpoints WHERE account_id = $1 AND endpoint = ANY($2)', [
        decision.accountId,
        named,
      ]);
  },
};

function webhookUrlOf({ event }: KeywordEvent): string | undefined {
  switch (event.case) {
    case 'keywordCreated':
      return event.value.definition?.webhookUrl;
    case 'keywordChanged':
      return event.value.webhookChanged ? event.value.definition?.webhookUrl : undefined;
    case 'watchCreated':
    case 'watchChanged':
      return event.value.webhookUrl;
    case 'keywordPaused':
    case 'keywordResumed':
    case 'keywordRetired':
    case 'watchPaused':
    case 'watchResumed':
    case 'watchRetired':
    case undefined:
      return undefined;
  }
}
