import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { CriteriaSchema, type Criteria, type SourceId } from '#contracts';
import { resolveCriteria } from '#criteria';
import { instantIn, type Fault } from '#kernel';
import { foldTerm } from '#matching';
import { clauseFault, type AgentField, type GivenClause } from '#rules';
import type { SourceSetup } from '#sources';
import type { CriteriaDto } from './criteria.dto.js';
import type { KeywordBodyDto } from './keyword-body.dto.js';
import type { ActionDto, RuleDto } from './rule.dto.js';

/** The sources of this installation. */
export type Sources = ReadonlyMap<SourceId, SourceSetup>;

/**
 * Returns the checks that the decorators of the body cannot make: checks of keys that depend on other keys, and checks
 * that need the sources of the installation.
 */
export function keywordChecks(body: KeywordBodyDto, sources: Sources): (() => Fault[])[] {
  const listOf = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : []);
  return [
    () => termFaults(body.globalCriteria, 'globalCriteria'),
    ...listOf(body.sources).map((_, index) => () => sourceFaults(body, index, sources)),
    ...listOf(body.rules).map((rule, index) => () => ruleFaults(rule, index, body.aiStep)),
    () => duplicateIdFaults(listOf(body.rules), 'rules'),
    () => scheduleFaults(body),
  ];
}

/** Returns the faults of a rule that the decorators of the DTO cannot find. @param step the keyword's agent step */
export function ruleFaults({ when, then }: RuleDto, index: number, step: KeywordBodyDto['aiStep']): Fault[] {
  const clauses = 'all' in when ? (when.all as GivenClause[]) : [];
  const schema = step?.schema as Record<string, AgentField> | undefined;
  const ofClauses = clauses.flatMap((clause, n) => {
    const fault = clauseFault(clause, schema);
    return fault ? [{ path: `rules[${index}].when.all[${n}].${fault.key}`, message: fault.message }] : [];
  });
  const isOnItems = when.kind === 'item';
  const ofActions = then.flatMap((action, n) => {
    const fault = actionFault(action, isOnItems);
    return fault ? [{ path: `rules[${index}].then[${n}].${fault.key}`, message: fault.message }] : [];
  });
  return [...ofClauses, ...ofActions];
}

function actionFault(
  { type, label }: ActionDto,
  isOnItems: boolean,
): { key: 'type' | 'label'; message: string } | undefined {
  if (!isOnItems && (type === 'mark' || type === 'stop'))
    return { key: 'type', message: `${type} needs a condition on items; use one of notify, webhook` };
  if (type === 'mark' && label === undefined) return { key: 'label', message: 'is required for mark' };
  return undefined;
}

/** Returns the faults of ids that occur twice in a list. */
function duplicateIdFaults(items: readonly { id?: string }[], path: string): Fault[] {
  const known = new Set<string>();
  return items.flatMap(({ id }, index) => {
    if (id === undefined || !known.has(id)) {
      if (id !== undefined) known.add(id);
      return [];
    }
    return [{ path: `${path}[${index}].id`, message: 'is used twice' }];
  });
}

/** Returns the faults of the criteria of a search on this source. `path` is the path of the criteria. */
export function searchFaults(source: SourceId, criteria: Criteria, path: string, sources: Sources): Fault[] {
  const setup = sources.get(source);
  return (setup?.connector.checkCriteria(criteria) ?? []).map((fault) => ({
    ...fault,
    path: [path, fault.path].filter(Boolean).join('.'),
  }));
}

/** Returns the reason why this installation cannot watch the source; undefined if it can. */
export function unavailability(source: SourceId, sources: Sources): string | undefined {
  const setup = sources.get(source);
  if (!setup) return `${source} is not a source`;
  if (!setup.enabled)
    return `${source} is turned off; SOURCE_${source.toUpperCase()}_ENABLED=true turns it on`;
  if (!setup.configured) return `${source} is not configured; missing: ${setup.missingSettings.join(', ')}`;
  return undefined;
}

/**
 * Returns a fault for each enabled source of a keyword that this installation cannot watch. A stored keyword shows the
 * fault as a warning, because no check of this source fails: nothing reads the source.
 */
export function unavailableSources(
  entries: readonly { source: SourceId; enabled: boolean }[],
  sources: Sources,
): Fault[] {
  return entries.flatMap(({ source, enabled }, index) => {
    const message = enabled ? unavailability(source, sources) : undefined;
    return message === undefined ? [] : [{ path: `sources[${index}].source`, message }];
  });
}

/** Returns the faults of terms that are blank or occur twice, and of a maximum price below the minimum price. */
export function termFaults(criteria: CriteriaDto | undefined, path: string): Fault[] {
  if (!criteria) return [];
  const faults: Fault[] = [];
  const seen = new Map<string, number>();
  (criteria.terms ?? []).forEach((term, index) => {
    if (typeof term !== 'string') return;
    const folded = foldTerm(term);
    const first = seen.get(folded);
    if (folded === '') faults.push({ path: `${path}.terms[${index}]`, message: 'must not be blank' });
    else if (first !== undefined)
      faults.push({ path: `${path}.terms[${index}]`, message: `is the same term as terms[${first}]` });
    else seen.set(folded, index);
  });
  if (
    typeof criteria.priceMin === 'number' &&
    typeof criteria.priceMax === 'number' &&
    criteria.priceMin > criteria.priceMax
  )
    faults.push({ path: `${path}.priceMax`, message: 'must not be below priceMin' });
  return faults;
}

/** Converts the criteria of a body to the protobuf message. */
export function criteriaOf(dto: CriteriaDto): Criteria {
  return fromJson(CriteriaSchema, JSON.parse(JSON.stringify(dto)) as JsonValue);
}

function sourceFaults(body: KeywordBodyDto, index: number, sources: Sources): Fault[] {
  const entry = body.sources[index];
  if (!entry) return [];
  const path = `sources[${index}]`;
  const faults: Fault[] = [];
  if (body.sources.findIndex(({ source }) => source === entry.source) < index)
    faults.push({
      path: `${path}.source`,
      message: `${entry.source} is listed twice; put all its searches into one entry`,
    });
  const unavailable = entry.enabled ? unavailability(entry.source, sources) : undefined;
  if (unavailable) faults.push({ path: `${path}.source`, message: unavailable });
  const searches = entry.searches ?? [];
  searches.forEach((search, n) =>
    faults.push(...termFaults(search.overrides, `${path}.searches[${n}].overrides`)),
  );
  faults.push(...duplicateIdFaults(searches, `${path}.searches`));
  if (!entry.enabled) return faults;
  const global = criteriaOf(body.globalCriteria);
  if (searches.length === 0)
    return [...faults, ...searchFaults(entry.source, global, 'globalCriteria', sources)];
  return [
    ...faults,
    ...searches.flatMap((search, n) => {
      const own = search.overridesEnabled === false ? {} : (search.overrides ?? {});
      const resolved = resolveCriteria(global, criteriaOf(own));
      return searchFaults(entry.source, resolved, '', sources).map((fault) => {
        // The fault belongs to the global criteria if only the global criteria contain the key. A missing key is a
        // fault of the search.
        const isGlobal = hasValueAt(body.globalCriteria, fault.path) && !hasValueAt(own, fault.path);
        return {
          ...fault,
          path: [isGlobal ? 'globalCriteria' : `${path}.searches[${n}].overrides`, fault.path]
            .filter(Boolean)
            .join('.'),
        };
      });
    }),
  ];
}

/** Returns whether the criteria have a value at a path such as `filters.feed_urls[2]`. */
function hasValueAt(criteria: CriteriaDto, path: string): boolean {
  let at: unknown = criteria;
  for (const key of path.match(/[^.[\]]+/g) ?? []) {
    if (typeof at !== 'object' || at === null) return false;
    at = (at as Record<string, unknown>)[key];
  }
  return at !== undefined;
}

function scheduleFaults({ schedule }: KeywordBodyDto): Fault[] {
  if (!schedule?.startsAt || !schedule.endsAt) return [];
  const instant = (text: string) => instantIn(text, schedule.timezone);
  return instant(schedule.endsAt) > instant(schedule.startsAt)
    ? []
    : [{ path: 'schedule.endsAt', message: 'must be after startsAt' }];
}
