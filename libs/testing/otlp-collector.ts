import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span in the form of OTLP over HTTP. */
export interface ExportedSpan {
  traceId: string;
  spanId: string;
  /** Absent if the span begins its trace. */
  parentSpanId?: string;
  name: string;
  /** The program that made the span. */
  service: string;
  kind: number;
  links?: { traceId: string; spanId: string }[];
  attributes?: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code?: number };
}

/** A local collector that stores the spans that it accepts. */
export interface OtlpCollector {
  /** The value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  spans: ExportedSpan[];
  /** Number of received requests. */
  requests: number;
  /** The status of the collector's responses; 0: the collector never responds. */
  status: number;
  close(): Promise<void>;
}

/**
 * Starts a collector.
 * @param port 0: any free port; otherwise this port, for example the port of a stopped collector
 */
export async function startCollector(port = 0): Promise<OtlpCollector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      collector.requests += 1;
      if (collector.status === 0) return;
      if (collector.status === 200) collector.spans.push(...spansIn(Buffer.concat(chunks)));
      response.writeHead(collector.status).end('{}');
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const collector: OtlpCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    requests: 0,
    status: 200,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

function spansIn(body: Buffer): ExportedSpan[] {
  const { resourceSpans } = JSON.parse(body.toString()) as {
    resourceSpans: {
      resource: { attributes: { key: string; value: { stringValue?: string } }[] };
      scopeSpans: { spans: Omit<ExportedSpan, 'service'>[] }[];
    }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}
