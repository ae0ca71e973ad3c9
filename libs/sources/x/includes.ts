import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';

/** The objects that a response includes in addition to its data, by id. Deleted and hidden tweets are missing. */
export interface Includes {
  users: ReadonlyMap<string, JsonRecord>;
  tweets: ReadonlyMap<string, JsonRecord>;
  media: ReadonlyMap<string, JsonRecord>;
  polls: ReadonlyMap<string, JsonRecord>;
}

/** Reads `includes` of a response. */
export function includesOf(answer: JsonRecord): Includes {
  const includes = recordOf(answer['includes']);
  return {
    users: byKey(includes?.['users'], 'id'),
    tweets: byKey(includes?.['tweets'], 'id'),
    media: byKey(includes?.['media'], 'media_key'),
    polls: byKey(includes?.['polls'], 'id'),
  };
}

function byKey(value: unknown, key: string): Map<string, JsonRecord> {
  const entries = (listOf(value) ?? []).flatMap((entry) => {
    const record = recordOf(entry);
    const id = textOf(record?.[key]);
    return record && id !== undefined ? [[id, record] as const] : [];
  });
  return new Map(entries);
}
