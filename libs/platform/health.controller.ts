import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import type { ClickHouseClient } from '#clickhouse';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import { METRICS_CONTENT_TYPE, metricsText } from '#telemetry';
import { BUS, CLICKHOUSE, DATABASE } from './platform.js';

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

  /** Returns 503 while a store cannot be reached; the body says of each store whether it can be reached. */
  @Get('readyz')
  async ready(@Res({ passthrough: true }) reply: StatusReply) {
    const [nats, postgres, clickhouse] = await Promise.all([
      this.bus.nc.rtt().then(
        () => true,
        () => false,
      ),
      this.database.query('SELECT 1').then(
        () => true,
        () => false,
      ),
      this.clickhouse.ping().then(
        (answer) => answer.success,
        () => false,
      ),
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
