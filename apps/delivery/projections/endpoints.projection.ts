import { fromBinary } from '@bufbuild/protobuf';
import { KeywordDecisionSchema, type KeywordEvent } from '#contracts';
import type { Projection } from '#projections';

/**
 * If a keyword or watch is created with an endpoint, or changes to a new endpoint, this projection deletes the
 * endpoint's record of failures. This enables the endpoint.
 */
export const endpointsProjection: Projection = {
  name: 'endpoints-v1',
  stream: 'KEYWORDS',
  async apply(tx, messages) {
    const named = messages.flatMap(({ data }) => {
      const { accountId, events } = fromBinary(KeywordDecisionSchema, data);
      return events.flatMap((event) => {
        const endpoint = webhookUrlOf(event);
        return endpoint ? [{ accountId, endpoint }] : [];
      });
    });
    if (named.length > 0)
      await tx.query(
        `DELETE FROM webhook_endpoints e USING unnest($1::uuid[], $2::text[]) AS n (account_id, endpoint)
         WHERE e.account_id = n.account_id AND e.endpoint = n.endpoint`,
        [named.map(({ accountId }) => accountId), named.map(({ endpoint }) => endpoint)],
      );
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
    case 'feedRotated':
    case undefined:
      return undefined;
  }
}
