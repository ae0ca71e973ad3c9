import { isDeepStrictEqual } from 'node:util';
import { fromJson, toJson, type JsonObject } from '@bufbuild/protobuf';
import { CriteriaSchema, KeywordDefinitionSchema, type SourceId } from '#contracts';
import { criteriaHash, resolveCriteria } from '#criteria';
import { definitionOf, definitionView } from '../../gateway/api/keywords/definition.js';
import { bodyOf, withoutGivenIds, type FileKeyword, type Keyword } from './keyword-file.js';

/** A key of a keyword, with its values before and after the change. */
export interface Change {
  key: string;
  before: unknown;
  after: unknown;
}

/** What a plan does with one keyword of the file or of the installation. */
export type Step =
  | { kind: 'same'; keyword: Keyword }
  | { kind: 'create'; file: FileKeyword }
  | { kind: 'change'; keyword: Keyword; file: FileKeyword; changes: Change[]; startOver: string[] }
  | { kind: 'delete'; keyword: Keyword }
  /** The keyword is not in the file, and stays, because the plan does not delete keywords. */
  | { kind: 'leave'; keyword: Keyword };

/**
 * Compares a file with the keywords of an installation.
 * @param keywords all keywords that are not retired
 * @param deletes true: keywords that are not in the file are deleted (retired, never purged)
 * @throws Error if an id does not exist, if several keywords have the name of an entry without id, or if two entries
 *   are for the same keyword
 */
export function planKeywords(
  file: readonly FileKeyword[],
  keywords: readonly Keyword[],
  deletes: boolean,
): Step[] {
  const taken = new Set<string>();
  const steps = file.map((entry): Step => {
    const keyword = counterpartOf(entry, keywords);
    if (!keyword) return { kind: 'create', file: entry };
    if (taken.has(keyword.id))
      throw new Error(`the file has two keywords for ${keyword.id} (${keyword.name})`);
    taken.add(keyword.id);
    const changes = changesOf(entry, keyword);
    if (changes.length === 0) return { kind: 'same', keyword };
    return {
      kind: 'change',
      keyword,
      file: entry,
      changes,
      startOver: searchesThatStartOver(entry, keyword),
    };
  });
  const rest = keywords.filter(({ id }) => !taken.has(id));
  return [...steps, ...rest.map((keyword): Step => ({ kind: deletes ? 'delete' : 'leave', keyword }))];
}

/** Finds the keyword of an entry by the id if the entry has an id, otherwise by the name. */
function counterpartOf({ id, body }: FileKeyword, keywords: readonly Keyword[]): Keyword | undefined {
  if (id !== undefined) {
    const found = keywords.find((keyword) => keyword.id === id);
    if (!found)
      throw new Error(
        `there is no keyword with the id ${id} (${body.name}); remove the id to create the keyword`,
      );
    return found;
  }
  const named = keywords.filter(({ name }) => name === body.name);
  if (named.length > 1)
    throw new Error(
      `several keywords have the name ${JSON.stringify(body.name)}; add the id of one: ${named.map((one) => one.id).join(', ')}`,
    );
  return named[0];
}

/** Returns the changes of a keyword. Compares only the keys that the file contains; other keys do not change. */
function changesOf({ body }: FileKeyword, keyword: Keyword): Change[] {
  const wanted = effective(body as unknown as Record<string, unknown>);
  const present = bodyOf(keyword);
  return Object.keys(body)
    .map((key) => ({ key, before: present[key] ?? null, after: wanted[key] ?? null }))
    .filter(({ before, after }) => !isDeepStrictEqual(plain(before), plain(after)));
}

/** Returns the body as the installation would return it: with the defaults, and without short forms. */
function effective(body: Record<string, unknown>): Record<string, unknown> {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  try {
    const definition = definitionOf(given as unknown as Parameters<typeof definitionOf>[0]);
    const view = definitionView(toJson(KeywordDefinitionSchema, definition) as JsonObject);
    return withoutGivenIds(view);
  } catch {
    // The installation reports the fault when it estimates the body.
    return body;
  }
}

/** Returns the names of the new searches of the file, except on sources on which the keyword has no search yet. */
function searchesThatStartOver({ body }: FileKeyword, keyword: Keyword): string[] {
  const known = new Set(keyword.watches.map((watch) => watch.criteriaHash));
  const sources = new Set(keyword.watches.map(({ source }) => source));
  const { globalCriteria, sources: entries } = effective(body as unknown as Record<string, unknown>) as {
    globalCriteria: JsonObject;
    sources: { source: SourceId; enabled: boolean; searches?: JsonObject[] }[];
  };
  return entries
    .filter(({ source, enabled }) => enabled && sources.has(source))
    .flatMap(({ source, searches = [] }) =>
      (searches.length === 0 ? [{} as JsonObject] : searches).flatMap((search) => {
        try {
          const own = search['overridesEnabled'] ? (search['overrides'] as JsonObject) : {};
          const criteria = resolveCriteria(
            fromJson(CriteriaSchema, globalCriteria),
            fromJson(CriteriaSchema, own),
          );
          if (known.has(criteriaHash(source, criteria))) return [];
        } catch {
          return [];
        }
        return [typeof search['label'] === 'string' ? `${source} (${search['label']})` : source];
      }),
    );
}

function plain(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}
