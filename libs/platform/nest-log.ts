import type { LoggerService } from '@nestjs/common';
import type { Logger } from '#telemetry';

/**
 * Writes Nest's messages to the log of the service. Messages of the level `log` get the level `debug`: most are about
 * the start.
 */
export class NestLog implements LoggerService {
  constructor(private readonly target: Logger) {}

  log(message: unknown): void {
    this.target.debug({ nest: true }, String(message));
  }

  error(message: unknown, stack?: unknown): void {
    this.target.error({ nest: true, stack }, String(message));
  }

  warn(message: unknown): void {
    this.target.warn({ nest: true }, String(message));
  }
}
