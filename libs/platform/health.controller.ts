import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import type { ClickHouseClient } from '#clickhouse';
import { within } from '#kernel';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import { METRICS_CONTENT_TYPE, metricsText } from '#telemetry';
import { BUS, CLICKHOUSE, DATABASE } from './platform.js';

/**
 * How long a store can take to answer. This time is shorter than the time limits of the probes that ask for readiness
 * (4 s in `deploy/healthcheck.mjs`). So the probes get the name of the store that does not answer.
 */
const PROBE_MS = 2_000;

/** The method of Fastify's reply that is used here. */
interface StatusReply {
  status(code: number): unknown;
}

/** `/healthz`: the process runs. `/readyz`: it can reach its stores. `/metrics`: metrics for Prometheus. */
@Controller()
export class HealthController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
  ) {}

  @Get('healthz')
  healthy() {
    return { status: 'ok' };
  }

  /**
   * Returns 503 while a store cannot be reached or does not answer in time; the body says of each store whether it
   * answers.
   */
  @Get('readyz')
  async ready(@Res({ passthrough: true }) reply: StatusReply) {
    const [nats, postgres, clickhouse] = await Promise.all([
      answers(this.bus.nc.rtt()),
      answers(this.database.query('SELECT 1')),
      answers(this.clickhouse.ping().then(throwIfFailed)),
    ]);
    const ready = nats && postgres && clickhouse;
    reply.status(ready ? 200 : 503);
    return { status: ready ? 'ready' : 'not ready', nats, postgres, clickhouse };
  }

  @Get('metrics')
  @Header('content-type', METRICS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return metricsText();
  }
}

/** Returns whether a probe succeeds in time. */
function answers(probe: Promise<unknown>): Promise<boolean> {
  return within(PROBE_MS, probe).catch(() => false);
}

function throwIfFailed(answer: Awaited<ReturnType<ClickHouseClient['ping']>>): void {
  if (!answer.success) throw answer.error;
}
