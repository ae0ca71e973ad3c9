import { Counter, Gauge, Histogram, collectDefaultMetrics, register } from 'prom-client';

collectDefaultMetrics({ register });

/** Everything that `/metrics` of this process shows, in Prometheus' text format. */
export async function metricsText(): Promise<string> {
  return register.metrics();
}

/** The content type of `metricsText`. */
export const METRICS_CONTENT_TYPE = register.contentType;

/** Every figure that Earshot publishes. Names follow Prometheus' conventions: unit last. */
export const metrics = {
  consumerPending: new Gauge({
    name: 'earshot_consumer_pending_messages',
    help: 'Messages of the stream that the durable consumer has not been given yet',
    labelNames: ['stream', 'consumer'] as const,
  }),
  consumerAckPending: new Gauge({
    name: 'earshot_consumer_ack_pending_messages',
    help: 'Messages that the durable consumer was given and has not settled yet',
    labelNames: ['stream', 'consumer'] as const,
  }),
  messages: new Counter({
    name: 'earshot_messages_total',
    help: 'Messages settled, by consumer and outcome (done, retry, park)',
    labelNames: ['consumer', 'outcome'] as const,
  }),
  streamGaps: new Gauge({
    name: 'earshot_stream_missing_messages',
    help: 'Sequence numbers missing inside a stream from which nothing is deleted one by one',
    labelNames: ['stream'] as const,
  }),
  checks: new Counter({
    name: 'earshot_checks_total',
    help: 'Checks by source and outcome (completed, or the kind of failure)',
    labelNames: ['source', 'outcome'] as const,
  }),
  upstreamRequests: new Counter({
    name: 'earshot_upstream_requests_total',
    help: 'Requests to upstreams by source and status (or the kind of failure)',
    labelNames: ['source', 'status'] as const,
  }),
  laneBlockedUntil: new Gauge({
    name: 'earshot_lane_blocked_until_seconds',
    help: 'Unix time until which the lane asks its upstream nothing; 0 when it is open',
    labelNames: ['source', 'lane'] as const,
  }),
  sourceHealthy: new Gauge({
    name: 'earshot_source_healthy',
    help: '1 while the upstream answers as it should; 0 when it fails, has changed shape, or is frozen',
    labelNames: ['source', 'lane'] as const,
  }),
  lookups: new Counter({
    name: 'earshot_lookups_total',
    help: 'Direct lookups by source, operation and outcome (found, the refusal, or the kind of failure)',
    labelNames: ['source', 'operation', 'outcome'] as const,
  }),
  dueSearches: new Gauge({
    name: 'earshot_due_searches_late_seconds',
    help: 'Age of the search that has been due the longest, in seconds, by source',
    labelNames: ['source'] as const,
  }),
  deliveries: new Counter({
    name: 'earshot_delivery_attempts_total',
    help: 'Webhook attempts by outcome (delivered, failed, given_up)',
    labelNames: ['outcome'] as const,
  }),
  oldestUndelivered: new Gauge({
    name: 'earshot_oldest_undelivered_event_seconds',
    help: 'Age of the oldest event that waits for its webhook, in seconds',
  }),
  quotaOutages: new Counter({
    name: 'earshot_quota_outages_total',
    help: 'Times that the request quota could not be counted, and requests were let through',
  }),
  creditMovements: new Counter({
    name: 'earshot_credit_movements_total',
    help: 'Movements of credits by kind (charge, grant, packExpiry, renewal, allowanceChange)',
    labelNames: ['kind'] as const,
  }),
  creditsCharged: new Counter({
    name: 'earshot_charged_credits_total',
    help: 'Credits charged by source and operation',
    labelNames: ['source', 'operation'] as const,
  }),
  creditsUncovered: new Counter({
    name: 'earshot_uncovered_credits_total',
    help: 'Credits that work cost and the balance did not cover: work whose reservation had run out',
  }),
  httpRequests: new Histogram({
    name: 'earshot_http_request_duration_seconds',
    help: 'Requests to the gateway by method, route and status',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  }),
};
