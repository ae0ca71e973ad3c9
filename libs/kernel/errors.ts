/** One fault of a request: where (`sources[0].searches[1].overrides.match`) and what. */
export interface Fault {
  path: string;
  message: string;
}

/**
 * A refusal that the caller is told about: HTTP status, machine code, a message for people.
 * Anything else that is thrown is a defect or an outage and leaves as 500 or 503 without its text.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details?: readonly Fault[],
  ) {
    super(message);
  }

  static validation(details: readonly Fault[]): Refusal {
    const first = details[0];
    const message =
      details.length === 1 && first
        ? `${first.path}: ${first.message}`
        : `${details.length} faults in the request`;
    return new Refusal(400, 'VALIDATION', message, details);
  }

  static notFound(what: string): Refusal {
    return new Refusal(404, 'NOT_FOUND', `${what} not found`);
  }

  static conflict(message: string, code = 'CONFLICT'): Refusal {
    return new Refusal(409, code, message);
  }

  static unavailable(message: string): Refusal {
    return new Refusal(503, 'UNAVAILABLE', message);
  }
}
