import type { Route } from '../operation.js';
import { TEXT } from '../schema.js';
import { textFilters } from './mentions.js';

export const streamRoutes: readonly Route[] = [
  {
    tag: 'Mentions',
    method: 'get',
    path: '/v1/stream',
    operationId: 'streamMentions',
    summary: 'Receive new mentions live, as server-sent events',
    description:
      'Each event has `event: mention`, an `id`, and the Mention as `data`. A mention is sent as soon as `GET /v1/mentions` with the same filters can return it. To continue after a break, send the last `id` as the header `Last-Event-ID`, as browsers do: then no mention is missed. To continue after a list without a gap, send the `lastEventId` of `GET /v1/mentions`; a mention of the list can then be sent again, with the same mention id. The first blocks contain `retry` and an `id`, and no event. A comment line arrives every 15 seconds. An account can have 50 streams open in each replica of the gateway; a further stream gets 429. Free.',
    parameters: [
      {
        name: 'Last-Event-ID',
        in: 'header',
        description:
          '`id` of the last event that arrived, or `lastEventId` of a list. Default: the stream begins now',
        schema: TEXT,
      },
      ...textFilters.filter(({ name }) => name !== 'order'),
    ],
    files: { 'text/event-stream': TEXT },
  },
];
