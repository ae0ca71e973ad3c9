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

/** `/healthz`: the process runs. `/readyz`: it can do its work. `/metrics`: metrics for Prometheus. */
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
   * Returns 503 while NATS or Postgres cannot be reached or does not answer in time. If only ClickHouse does not answer,
   * returns 200 with the status `degraded`: the requests that do not read mentions or activity still work, so a load
   * balancer must not remove every gateway. The body says of each store whether it answers.
   */
  @Get('readyz')
  async ready(@Res({ passthrough: true }) reply: StatusReply) {
    const [nats, postgres, clickhouse] = await Promise.all([
      answers(this.bus.nc.rtt()),
      answers(this.database.query('SELECT 1')),
      answers(this.clickhouse.ping().then(throwIfFailed)),
    ]);
    const works = nats && postgres;
    reply.status(works ? 200 : 503);
    const status = !works ? 'not ready' : clickhouse ? 'ready' : 'degraded';
    return { status, nats, postgres, clickhouse };
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
