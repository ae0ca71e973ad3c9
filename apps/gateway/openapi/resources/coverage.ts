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
            'Why items may be missing. For a covered window: why an earlier check failed, before a later one read the window',
            nullable(TEXT),
          ),
        }),
      ),
    ),
    lagSeconds: described(
      'Time from publication to mention, of the mentions of the window; null without mentions',
      nullable(object({ p50: NUMBER, p95: NUMBER })),
    ),
    nextCheckAt: described('Null while no check is due', nullable(INSTANT)),
  }),
  Coverage: object({ data: listOf(ref('SearchCoverage')), since: INSTANT, until: INSTANT }),
};

export const coverageRoutes: readonly Route[] = (['keywords', 'queries'] as const).map((name) => ({
  tag: 'Keywords',
  method: 'get',
  path: `/v1/${name}/{id}/coverage`,
  operationId: name === 'keywords' ? 'coverageOfKeyword' : 'coverageOfQuery',
  summary: 'Show which times of each search were read, and which were not',
  description: 'A window of at most 90 days. Free.',
  parameters: [inPath('id', 'Id of the keyword'), since('24 hours before `until`'), UNTIL],
  answer: ref('Coverage'),
}));
