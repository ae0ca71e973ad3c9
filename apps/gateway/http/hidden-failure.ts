import type { FastifyRequest } from 'fastify';

type FailedRequest = FastifyRequest & { hiddenFailure?: number };

/** Notes the status of a failure that the response does not show: the response for an MCP tool that fails is 200. */
export function setHiddenFailure(request: FastifyRequest, status: number): void {
  (request as FailedRequest).hiddenFailure = status;
}

/** Returns the status of a failure that the response does not show; undefined if there is none. */
export function hiddenFailureOf(request: FastifyRequest): number | undefined {
  return (request as FailedRequest).hiddenFailure;
}
