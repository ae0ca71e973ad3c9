import { MAX_RUNS } from '../../reads/coverage-reads.js';
import type { Route } from '../operation.js';
import { inPath, since, UNTIL } from '../parameters.js';
import {
  described,
  ID,
  INSTANT,
  listOf,
  nullable,
  NUMBER,
  object,
  oneOf,
  ref,
  SOURCE,
  TEXT,
  type Schema,
} from '../schema.js';

export const coverageSchemas: Readonly<Record<string, Schema>> = {
  SearchCoverage: object({
    searchId: ID,
    source: SOURCE,
    watchId: described('Null if the search was removed', nullable(ID)),
    windows: described(
      'Oldest first; each window begins where the previous one ends',
      listOf(
        object({
          from: INSTANT,
          to: INSTANT,
          status: described(
            '`covered`: everything was read; `gap`: items may be missing; `failed`: the source could not be read',
            oneOf(['covered', 'gap', 'failed']),
          ),
          reason: described(
            'Why items may be missing. For a covered window: why an earlier check failed, if a later check then read the window',
            nullable(TEXT),
          ),
        }),
      ),
    ),
    lagSeconds: described(
      'Seconds from the publication of an item until Earshot found it, for the mentions in the window; null without mentions',
      nullable(object({ p50: NUMBER, p95: NUMBER })),
    ),
    nextCheckAt: described('Time of the next check; null if no check is planned', nullable(INSTANT)),
  }),
  Coverage: object({
    data: listOf(ref('SearchCoverage')),
    since: described(
      `Later than the requested \`since\` if the period has more than ${MAX_RUNS} series of checks with the same status; to read the time before, send this value as \`until\``,
      INSTANT,
    ),
    until: INSTANT,
  }),
};

export const coverageRoutes: readonly Route[] = (['keywords', 'queries'] as const).map((name) => ({
  tag: 'Keywords',
  method: 'get',
  path: `/v1/${name}/{id}/coverage`,
  operationId: name === 'keywords' ? 'coverageOfKeyword' : 'coverageOfQuery',
  summary: 'Show which periods each search has read, and which it has not read',
  description: 'The window is at most 90 days long. Free.',
  parameters: [inPath('id', 'Id of the keyword'), since('24 hours before `until`'), UNTIL],
  answer: ref('Coverage'),
}));
