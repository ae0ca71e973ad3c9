import { sessionToken } from '../shared/session-token.js';
import { listOf, recordOf, textOf, unknownShape } from '../shared/shape.js';
import type { FetchContext } from '../source.js';
import { ask } from './ask.js';

const SESSION_KEY = 'stackoverflow.answerFilter';

/**
 * Returns the name of a filter that adds the link, and the question's title and tags, to answers. The built-in filters
 * do not add these fields. A filter never expires, so each process creates it only once. To read the titles from
 * `/questions/{ids}`, every page would need another request.
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
