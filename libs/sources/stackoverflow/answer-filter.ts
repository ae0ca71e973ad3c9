import { sessionToken } from '../shared/session-token.js';
import { listOf, recordOf, textOf, unknownShape } from '../shared/shape.js';
import type { FetchContext } from '../source.js';
import { ask } from './ask.js';

const SESSION_KEY = 'stackoverflow.answerFilter';

/**
 * The name of the filter with which answers contain the title and the tags of their question; the built-in ones contain
 * neither. A filter is created once and lasts forever, so it costs one request for the life of a lane. Titles by
 * `/questions/{ids}` would cost a request for every page.
 */
export function answerFilter(context: FetchContext, key: string): Promise<string> {
  const make = () => makeFilter(context, key);
  return sessionToken({ session: context.session, key: SESSION_KEY, make });
}

async function makeFilter(context: FetchContext, key: string): Promise<string> {
  const answer = await ask(context, key, {
    path: 'filters/create',
    query: { base: 'withbody', include: 'answer.title;answer.link;answer.tags', unsafe: 'false' },
  });
  const filter = textOf(recordOf(listOf(answer['items'])?.[0])?.['filter']);
  if (filter === undefined) throw unknownShape('stackoverflow', 'the name of a filter');
  return filter;
}
