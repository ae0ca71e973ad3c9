import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyServerOptions } from 'fastify';
import { newId } from '#kernel';
import { respondAndClose } from '#platform';
import type { Logger } from '#telemetry';
import { errorAnswer } from './error.filter.js';
import { refuseOversizeJson } from './counted-json.js';
import { requestIdOf } from './request-context.js';

/**
 * Maximum length of a parameter in a path. The limit is longer than any URL that Node accepts, so that a long id is
 * reported as invalid, not as too long.
 */
const MAX_PARAMETER_LENGTH = 65_536;

/**
 * Accepts only JSON bodies. An empty JSON body counts as no body; an empty body without a content type does too. A body
 * with too many values is refused here, before a route reads it.
 */
export function acceptOnlyJson(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  // Users can choose the name `__proto__` for the keys inside `filters` and `schema`. `readBody` refuses this name for
  // all other keys.
  const parse = fastify.getDefaultJsonParser('ignore', 'ignore');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    try {
      refuseOversizeJson(body as string);
    } catch (refusal) {
      return done(refusal as Error);
    }
    void parse(request, body as string, done);
  });
}

/** The prefix of the pages to which the mails of channels link. */
const PAGES = '/channels/';

/**
 * Accepts the forms of the pages to which the mails of channels link. The bodies of the forms are ignored: the link
 * defines the action. Other routes refuse forms.
 */
export function ignoreForms(fastify: FastifyInstance): void {
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data'])
    fastify.addContentTypeParser(type, { parseAs: 'string', bodyLimit: 4096 }, (request, _body, done) =>
      request.url.startsWith(PAGES)
        ? done(null, undefined)
        : done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type)),
    );
}

/** Returns options with which requests that are not valid HTTP get an error in the same form as all other errors. */
export function malformedRequests(log: Logger): FastifyServerOptions {
  return {
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors(error, request, reply) {
      const { status, body } = errorAnswer(error, log);
      const answer = reply as unknown as FastifyReply;
      void answer
        .status(status)
        .headers({ 'x-request-id': requestIdOf(request.headers), 'x-content-type-options': 'nosniff' })
        .send(body);
    },
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
      const statusCode = STATUS_OF[error.code] ?? 400;
      const { status, body } = errorAnswer({ statusCode, code: error.code }, log);
      respondAndClose(socket, status, body, { 'x-request-id': newId() });
    },
  };
}

const STATUS_OF: Partial<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};
