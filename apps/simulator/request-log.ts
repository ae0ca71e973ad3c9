import type { Clock } from '#kernel';
import type { SimulatedService } from './context.js';

/** One request to a simulated service. */
export interface LoggedRequest {
  /** ISO 8601. */
  at: string;
  source: SimulatedService;
  method: string;
  /** Path and query as sent. */
  url: string;
  signIn: boolean;
  /** Absent until the request is answered completely. */
  status?: number;
  fault?: string;
}

/** The requests to the simulated services, as `/_sim/requests` returns them. */
export interface RequestReport {
  total: number;
  bySource: Record<string, number>;
  byPath: Record<string, number>;
  requests: LoggedRequest[];
}

const KEPT_REQUESTS = 20_000;

/** Logs the requests to the simulated services: the newest requests in full, and counts of all requests. */
export class RequestLog {
  private requests: LoggedRequest[] = [];
  private readonly counts = new Map<string, number>();

  /** @param kept maximum number of requests to keep; above it, only the newer half is kept */
  constructor(
    private readonly clock: Clock,
    private readonly kept = KEPT_REQUESTS,
  ) {}

  begin(request: Omit<LoggedRequest, 'at'>): LoggedRequest {
    const logged: LoggedRequest = { at: this.clock.now().toISOString(), ...request };
    this.requests.push(logged);
    if (this.requests.length > this.kept) this.requests = this.requests.slice(-this.kept / 2);
    const key = `${request.source} ${request.url.split('?')[0]}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    return logged;
  }

  clear(): void {
    this.requests = [];
    this.counts.clear();
  }

  /** Returns counts by source and by path, and the requests themselves, oldest first. */
  report(source?: string): RequestReport {
    const bySource: Record<string, number> = {};
    const byPath: Record<string, number> = {};
    let total = 0;
    for (const [key, count] of this.counts) {
      const [requestSource = '', path = ''] = key.split(' ');
      if (source && requestSource !== source) continue;
      bySource[requestSource] = (bySource[requestSource] ?? 0) + count;
      byPath[path] = (byPath[path] ?? 0) + count;
      total += count;
    }
    return {
      total,
      bySource,
      byPath,
      requests: this.requests.filter((each) => !source || each.source === source),
    };
  }
}
