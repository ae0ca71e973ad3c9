import {
  Catch,
  HttpException,
  NotFoundException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal, type Fault } from '#kernel';
import { refusalFor } from '#outages';
import type { Logger } from '#telemetry';
import { HTTP_STATUS } from '#transport';

const CODES: Readonly<Record<number, string>> = {
  400: 'VALIDATION',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  503: 'UNAVAILABLE',
};

/** The error in the form in which it is sent: `{error, code, details?}`, without internal data. */
export interface ErrorAnswer {
  status: number;
  body: { error: string; code: string; details?: readonly Fault[] };
}

/** The routes of the interface. */
interface Routes {
  /** Returns the methods of an address, in capitals. */
  methodsAt(path: string): readonly string[];
  /** Returns the route that the caller of an unknown address probably meant. */
  nearestPath(path: string): string | undefined;
}

/** Turns an error of a route into a response. Other code that sends errors uses `errorAnswer`. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly log: Logger,
    private readonly routes: Routes = { methodsAt: () => [], nearestPath: () => undefined },
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    // Nest throws this exception if there is no route. A route of the API that does not find an object throws a Refusal
    // instead.
    if (error instanceof NotFoundException) {
      const { method, url } = http.getRequest<FastifyRequest>();
      const path = url.replace(/\?.*$/s, '');
      const offered = this.routes.methodsAt(path).join(', ');
      const nearest = this.routes.nearestPath(path);
      if (offered === '' && nearest !== undefined)
        error = new Refusal('not-found', 'NOT_FOUND', `no such endpoint; did you mean ${nearest}?`);
      if (offered !== '') {
        const message = `${method} is not allowed here; allowed: ${offered}`;
        void reply.status(405).header('allow', offered).send({ error: message, code: 'METHOD_NOT_ALLOWED' });
        return;
      }
    }
    const { status, body } = errorAnswer(error, this.log);
    void reply.status(status).send(body);
  }
}

/** Returns the response to an error. Defects and outages are logged. */
export function errorAnswer(error: unknown, log: Logger): ErrorAnswer {
  if (error instanceof Refusal) return refusalAnswer(error);
  const status = statusOf(error);
  if (status !== undefined && status < 500) return httpFaultAnswer(error, status);
  log.error({ err: error }, 'request failed');
  return refusalAnswer(refusalFor(error));
}

/** Returns the response to a refusal. */
export function refusalAnswer({ kind, code, message, details }: Refusal): ErrorAnswer {
  return { status: HTTP_STATUS[kind], body: { error: message, code, ...(details ? { details } : {}) } };
}

/** Returns the response to a request that the HTTP layer refused, with that layer's status. */
function httpFaultAnswer(error: unknown, status: number): ErrorAnswer {
  const code = CODES[status] ?? 'VALIDATION';
  const message = textOf(error, status);
  const details = code === 'VALIDATION' ? { details: [{ path: '', message }] } : {};
  return { status, body: { error: message, code, ...details } };
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  const status = (error as { statusCode?: unknown } | null | undefined)?.statusCode;
  return typeof status === 'number' && status >= 400 ? status : undefined;
}

function textOf(error: unknown, status: number): string {
  if (status === 413) return 'the body is larger than 1 MiB (a form: 4 KiB)';
  if (status === 404) return 'no such endpoint';
  if (status === 415) return 'the body must be JSON (content-type: application/json)';
  if (codeOf(error) === 'FST_ERR_BAD_URL') return 'the address is not valid';
  if (codeOf(error) === 'HPE_HEADER_OVERFLOW') return 'the headers are larger than 16 KiB';
  if (status === 408) return 'the request did not arrive in time';
  return error instanceof Error ? error.message : 'invalid request';
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}
