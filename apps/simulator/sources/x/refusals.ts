import type { FastifyReply } from 'fastify';
import { answer } from '../../context.js';
import type { ParameterFault } from './parameters.js';

/** The prefix of a problem's `type`, unless the type is `about:blank`. */
export const PROBLEMS = 'https://api.x.com/2/problems/';

/** Refuses a request with this status, in X's words. */
export function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  if (status === 429) return reply.code(429).type('text/plain;charset=utf-8').send('Rate limit exceeded\n');
  if (status !== 403)
    return answer(reply, status, { title: message, detail: message, type: 'about:blank', status });
  return answer(reply, 403, {
    client_id: '10000001',
    detail:
      'This request must be made using an approved developer account that is enrolled in the requested endpoint.',
    reason: 'client-not-enrolled',
    required_enrollment: 'Standard Basic',
    registration_url: 'https://developer.x.com/en/account',
    title: 'Client Forbidden',
    type: `${PROBLEMS}client-forbidden`,
  });
}

/** Refuses a request with a 400 that names every parameter at fault. */
export function invalid(reply: FastifyReply, errors: readonly ParameterFault[]): FastifyReply {
  return answer(reply, 400, {
    errors,
    title: 'Invalid Request',
    detail: 'One or more parameters to your request was invalid.',
    type: `${PROBLEMS}invalid-request`,
  });
}
