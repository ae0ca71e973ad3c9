import { parseDocument, stringify } from 'yaml';
import type { components } from '#client';

/** A keyword as the API returns it. */
export type Keyword = components['schemas']['Keyword'];
/** The body of a keyword, in camelCase. */
export type KeywordBody = components['schemas']['KeywordBody'];

/** A keyword of the file. */
export interface FileKeyword {
  /**
   * The id of the keyword in the installation. The file needs it only to rename the keyword, or if several keywords
   * have the same name.
   */
  id?: string;
  body: KeywordBody;
}

const READ_ONLY = new Set([
  ...['id', 'state', 'pausedReason', 'createdAt', 'updatedAt', 'version', 'monthlyCredits', 'watches'],
  ...['resetSearches', 'warnings'],
]);
const MAX_FILE_BYTES = 5_000_000;
const HEADING =
  ' Keywords of Earshot. Check with `keywords plan FILE`, change the installation with `keywords apply FILE`.';

/**
 * Reads `{keywords: [...]}`. Checks that `id` and `name` are texts; the installation checks the other values.
 * @throws Error if the file is too large, is not UTF-8 or has another form; if a keyword lacks a required key; or if
 *   two entries have the same id, or the same name and no id
 */
export function readKeywordFile(bytes: Uint8Array): FileKeyword[] {
  if (bytes.length > MAX_FILE_BYTES) throw new Error('the file is larger than 5 MB');
  const document = parseDocument(decoded(bytes));
  // For the parser, an unknown tag such as `!secret` is only a warning, and its value becomes a plain text. So warnings
  // are errors here.
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new Error(`the file is not valid YAML: ${fault.message}`);
  const content: unknown = document.toJS();
  if (!isObject(content) || !Array.isArray(content['keywords']) || Object.keys(content).length > 1)
    throw new Error('the file must have one key, keywords, with a list');
  const keywords = content['keywords'].map(readKeyword);
  refuseDuplicates(keywords);
  return keywords;
}

/**
 * Returns the text. Refuses other encodings than UTF-8: their accented letters would become other characters, which
 * match nothing.
 */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error('the file is not UTF-8; save it as UTF-8', { cause: error });
  }
}

function readKeyword(entry: unknown, index: number): FileKeyword {
  const at = `keywords[${index}]`;
  if (!isObject(entry)) throw new Error(`${at} must be a keyword with its keys`);
  for (const key of ['name', 'refreshIntervalSeconds', 'globalCriteria', 'sources'])
    if (entry[key] === undefined || entry[key] === null) throw new Error(`${at}.${key} is missing`);
  const { id, ...given } = entry;
  if (id !== undefined && typeof id !== 'string') throw new Error(`${at}.id must be a text`);
  const body = Object.fromEntries(Object.entries(given).filter(([key]) => !READ_ONLY.has(key)));
  if (typeof body['name'] !== 'string') throw new Error(`${at}.name must be a text`);
  return { ...(id === undefined ? {} : { id }), body: body as unknown as KeywordBody };
}

/**
 * Refuses two entries with the same id, or with the same name and no id. They would name the same keyword and overwrite
 * each other.
 */
function refuseDuplicates(keywords: readonly FileKeyword[]): void {
  const seen = new Set<string>();
  for (const { id, body } of keywords) {
    const key = id ?? body.name;
    if (seen.has(key))
      throw new Error(`the file has two keywords ${JSON.stringify(key)}; give each its own id`);
    seen.add(key);
  }
}

/**
 * Returns the keywords as the text of a YAML file. Ids of searches and rules are left out, and also the id of a keyword
 * with a unique name, so that the file also fits another installation.
 */
export function writeKeywordFile(keywords: readonly Keyword[]): string {
  const count = new Map<string, number>();
  for (const { name } of keywords) count.set(name, (count.get(name) ?? 0) + 1);
  const entries = keywords.map((keyword) => ({
    ...((count.get(keyword.name) ?? 0) > 1 ? { id: keyword.id } : {}),
    ...bodyOf(keyword),
  }));
  return stringify({ keywords: entries }, { commentString: (text) => `#${text}`, lineWidth: 0 }).replace(
    /^/,
    `#${HEADING}\n`,
  );
}

/** Returns the keys of a keyword that a file can have, without the ids that the installation has given. */
export function bodyOf(keyword: object): Record<string, unknown> {
  const kept = Object.entries(keyword).filter(([key]) => !READ_ONLY.has(key));
  return withoutGivenIds(Object.fromEntries(kept));
}

/** Removes the ids of searches and rules, so that only their content is compared. */
export function withoutGivenIds(body: Record<string, unknown>): Record<string, unknown> {
  const { sources, rules, ...rest } = body;
  return {
    ...rest,
    ...(Array.isArray(sources) ? { sources: sources.map(sourceWithoutIds) } : {}),
    ...(Array.isArray(rules) ? { rules: rules.map(withoutId) } : {}),
  };
}

function sourceWithoutIds(entry: unknown): unknown {
  if (!isObject(entry) || !Array.isArray(entry['searches'])) return entry;
  return { ...entry, searches: entry['searches'].map(withoutId) };
}

function withoutId(part: unknown): unknown {
  if (!isObject(part)) return part;
  const { id: _, ...rest } = part;
  return rest;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
