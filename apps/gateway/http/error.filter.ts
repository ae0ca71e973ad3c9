import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Refusal } from '#kernel';
import type { Logger } from '#telemetry';

const CODES: Readonly<Record<number, string>> = {
  400: 'VALIDATION',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'VALIDATION',
  503: 'UNAVAILABLE',
};

/** The one place where an error becomes an answer: `{error, code, details?}`, and nothing from inside. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { status, code, message, details } = this.refusalOf(error);
    void reply.status(status).send({ error: message, code, ...(details ? { details } : {}) });
  }

  private refusalOf(error: unknown): Pick<Refusal, 'status' | 'code' | 'message' | 'details'> {
    if (error instanceof Refusal) return error;
    const status = statusOf(error);
    if (status !== undefined && status < 500)
      return new Refusal(status, CODES[status] ?? 'VALIDATION', textOf(error, status));
    this.log.error({ err: error }, 'request failed');
    return isOutage(error)
      ? Refusal.unavailable('a store that this needs cannot be reached; try again')
      : new Refusal(500, 'INTERNAL', 'internal error');
  }
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  const status = (error as { statusCode?: unknown } | null | undefined)?.statusCode;
  return typeof status === 'number' && status >= 400 ? status : undefined;
}

function textOf(error: unknown, status: number): string {
  if (status === 413) return 'the body is larger than 1 MiB';
  if (status === 404) return 'no such endpoint';
  if (status === 415) return 'the body must be JSON (content-type: application/json)';
  return error instanceof Error ? error.message : 'invalid request';
}

function isOutage(error: unknown): boolean {
  return /ECONNREFUSED|ECONNRESET|ETIMEDOUT|timeout|Connection terminated/i.test(
    `${(error as { code?: unknown } | null | undefined)?.code} ${error instanceof Error ? error.message : ''}`,
  );
}
