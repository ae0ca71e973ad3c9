import type { Counter } from '@opentelemetry/api';
import { meter, SettableGauge } from './meter.js';
import { publishProcessMetrics } from './process-metrics.js';

type Labels<N extends string> = Record<N, string>;

publishProcessMetrics();

function counter<N extends string>(name: string, description: string): Counter<Labels<N>> {
  return meter.createCounter(name, { description });
}

/**
 * Creates a counter without labels that shows 0 before its first event, because `increase()` of Prometheus ignores the
 * first value of a series.
 */
export function counterFromZero(name: string, description: string): Counter<Labels<never>> {
  const created = counter<never>(name, description);
  created.add(0);
  return created;
}

/**
 * The metrics of Earshot, except those of the process (`process-metrics.ts`). The names follow the conventions of
 * Prometheus: the unit is at the end.
 */
export const metrics = {
  consumerPending: new SettableGauge<Labels<'stream' | 'consumer'>>(
    'earshot_consumer_pending_messages',
    'Messages of the stream that the durable consumer has not received yet',
  ),
  consumerAckPending: new SettableGauge<Labels<'stream' | 'consumer'>>(
    'earshot_consumer_ack_pending_messages',
    'Messages that the durable consumer has received and not settled yet',
  ),
  consumerAckFloor: new SettableGauge<Labels<'stream' | 'consumer'>>(
    'earshot_consumer_ack_floor',
    'Sequence of the stream up to which the durable consumer has acknowledged all messages',
  ),
  messages: counter<'consumer' | 'outcome'>(
    'earshot_messages_total',
    'Messages settled, by consumer and outcome (done, retry, park)',
  ),
  streamGaps: new SettableGauge<Labels<'stream'>>(
    'earshot_stream_missing_messages',
    'Messages that are missing inside a stream, because they were purged or lost',
  ),
  checks: counter<'source' | 'outcome'>(
    'earshot_checks_total',
    'Checks by source and outcome (completed, or the kind of failure)',
  ),
  upstreamRequests: counter<'source' | 'status'>(
    'earshot_upstream_requests_total',
    'Requests to upstreams by source and status (none: no response arrived)',
  ),
  laneBlockedUntil: new SettableGauge<Labels<'source' | 'lane'>>(
    'earshot_lane_blocked_until_seconds',
    'Unix time until which the lane sends no requests to its upstream; 0 when it sends requests',
  ),
  sourceHealthy: new SettableGauge<Labels<'source' | 'lane'>>(
    'earshot_source_healthy',
    '1 while the upstream answers correctly; 0 when it fails, answers in an unknown form, or is frozen',
  ),
  lookups: counter<'source' | 'operation' | 'outcome'>(
    'earshot_lookups_total',
    'Direct lookups by source, operation and outcome (found, the refusal, or the kind of failure)',
  ),
  dueSearches: new SettableGauge<Labels<'source'>>(
    'earshot_due_searches_late_seconds',
    'Longest time that a search has been due, in seconds, by source',
  ),
  deliveries: counter<'outcome'>(
    'earshot_delivery_attempts_total',
    'Attempts to deliver to webhooks and channels by outcome: delivered, failed, given_up (the last attempt failed, or the endpoint was disabled while the delivery waited); and unsent (not attempted, or not attempted again, because the endpoint is disabled or a user made a change)',
  ),
  oldestUndelivered: new SettableGauge<Labels<never>>(
    'earshot_oldest_undelivered_event_seconds',
    'Age of the oldest event that waits for its delivery to a webhook or channel, in seconds',
  ),
  dueDeliveries: new SettableGauge<Labels<never>>(
    'earshot_due_deliveries_late_seconds',
    'Longest time that a delivery has waited for an attempt, in seconds: since its creation if it had none, otherwise since its due time',
  ),
  quotaOutages: counterFromZero(
    'earshot_quota_outages_total',
    'How often the request quota could not be counted, so that requests were accepted without it',
  ),
  passwordHashes: counterFromZero(
    'earshot_password_hashes_total',
    'Passwords that were hashed or compared. A sign-in hashes or compares one password, whether the address is known or not',
  ),
  llmRequests: counter<'outcome'>(
    'earshot_llm_requests_total',
    'Requests to the language model by outcome (answered, invalid, declined, or the kind of failure)',
  ),
  llmTokens: counter<'direction'>(
    'earshot_llm_tokens_total',
    'Tokens that the server of the language model has counted, by direction (in, out)',
  ),
  llmBlockedUntil: new SettableGauge<Labels<never>>(
    'earshot_llm_blocked_until_seconds',
    'Unix time until which no request is sent to the language model; 0 when requests are sent',
  ),
  waitingReadings: new SettableGauge<Labels<never>>(
    'earshot_waiting_readings',
    'Events that wait for the language model',
  ),
  oldestWaitingReading: new SettableGauge<Labels<never>>(
    'earshot_oldest_waiting_reading_seconds',
    'Age of the oldest event that waits for the language model, in seconds',
  ),
  creditMovements: counter<'kind'>(
    'earshot_credit_movements_total',
    'Movements of credits by kind (charge, grant, packExpiry, renewal, allowanceChange)',
  ),
  creditsCharged: counter<'source' | 'operation'>(
    'earshot_charged_credits_total',
    'Credits charged by source and operation',
  ),
  creditsUncovered: counterFromZero(
    'earshot_uncovered_credits_total',
    'Credits that the balance did not cover, for example because the reservation of the work had expired',
  ),
  httpRequests: meter.createHistogram<Labels<'method' | 'route' | 'status'>>(
    'earshot_http_request_duration_seconds',
    {
      description: 'Requests to the gateway by method, route and status',
      advice: {
        explicitBucketBoundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      },
    },
  ),
};
