import { fromJson, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import { KeywordDefinitionSchema, type KeywordDefinition } from '#contracts';
import { hasOffset, instantIn, isoOf } from '#kernel';
import { effectiveMute } from '#matching';
import type { KeywordBodyDto, ScheduleDto } from './keyword-body.dto.js';

/** Returns the definition of a keyword from its body. Keys that are absent in the body get their defaults. */
export function definitionOf(body: KeywordBodyDto): KeywordDefinition {
  const plain = JSON.parse(JSON.stringify(body)) as Record<string, JsonValue>;
  return fromJson(KeywordDefinitionSchema, {
    sentimentEnabled: true,
    subjectRole: 'own',
    webhookMode: 'all',
    ...plain,
    webhookUrl: body.webhookUrl || null,
    languages: body.languages ?? [],
    sources: body.sources.map((entry) => ({
      ...json(entry),
      searches: (entry.searches ?? []).map((search) => ({
        ...json(search),
        overridesEnabled: search.overridesEnabled ?? search.overrides !== undefined,
        overrides: json(search.overrides ?? {}),
      })),
    })),
    muteRules: (body.muteRules ?? []).map((mute) => json(effectiveMute(mute))),
    rules: (body.rules ?? []).map((rule) => ({ ...json(rule), enabled: rule.enabled ?? true })),
    ...(body.schedule ? { schedule: scheduleOf(body.schedule) } : {}),
  });
}

/**
 * Returns a schedule in its stored form. A time with an offset is converted to UTC; a time without an offset stays a
 * local time of the zone.
 */
function scheduleOf({ startsAt, endsAt, timezone }: ScheduleDto): JsonObject {
  const normalised = (text: string | null) =>
    text !== null && hasOffset(text) ? isoOf(instantIn(text, timezone)) : text;
  return { startsAt: normalised(startsAt), endsAt: normalised(endsAt), timezone };
}

/**
 * Returns the part of a keyword's response that comes from the stored definition. A key without a stored value becomes
 * null if it is nullable. Otherwise it becomes its default (`own`, `all`), or else false, 0, or an empty text or list.
 */
export function definitionView(definition: JsonObject): JsonObject {
  const list = (key: string) => (Array.isArray(definition[key]) ? (definition[key] as JsonObject[]) : []);
  return {
    name: definition.name ?? '',
    refreshIntervalSeconds: definition.refreshIntervalSeconds ?? 0,
    globalCriteria: criteriaView(definition.globalCriteria as JsonObject),
    sources: list('sources').map((entry) => ({
      source: entry.source ?? '',
      enabled: entry.enabled ?? false,
      refreshIntervalSeconds: entry.refreshIntervalSeconds ?? null,
      searches: ((entry.searches ?? []) as JsonObject[]).map((search) => ({
        id: search.id ?? '',
        label: search.label ?? null,
        overridesEnabled: search.overridesEnabled ?? false,
        overrides: criteriaView((search.overrides ?? {}) as JsonObject),
      })),
    })),
    webhookUrl: definition.webhookUrl ?? null,
    aiEnabled: definition.aiEnabled ?? false,
    aiPreset: definition.aiPreset ?? null,
    aiPrompt: definition.aiPrompt ?? null,
    aiStep: agentStepView(definition.aiStep),
    sentimentEnabled: definition.sentimentEnabled ?? false,
    coBrandsEnabled: definition.coBrandsEnabled ?? false,
    subjectRole: definition.subjectRole ?? 'own',
    muteRules: list('muteRules').map((mute) => ({ ...mute, source: mute.source ?? null })),
    vipAuthors: list('vipAuthors').map((vip) => ({
      ...vip,
      source: vip.source ?? null,
      note: vip.note ?? null,
    })),
    rules: list('rules').map((rule) => ({
      ...rule,
      source: rule.source ?? null,
      then: ((rule.then ?? []) as JsonObject[]).map(actionView),
    })),
    webhookMode: definition.webhookMode ?? 'all',
    webhookEvents: definition.webhookEvents ?? [],
    channels: definition.channels ?? [],
    spikeAlert: definition.spikeAlert ?? null,
    backfill: definition.backfill ?? false,
    schedule: scheduleView(definition.schedule),
    minRelevance: definition.minRelevance ?? null,
    languages: list('languages').length > 0 ? (definition.languages ?? null) : null,
  };
}

/** Returns criteria in the form of a response: an empty list of terms is left out. */
export function criteriaView(criteria: JsonObject): JsonObject {
  const { terms, ...rest } = criteria;
  return Array.isArray(terms) && terms.length > 0 ? { ...rest, terms } : rest;
}

/** Returns an agent step in the form of a response; null without an agent step. */
export function agentStepView(step: JsonValue | undefined): JsonObject | null {
  if (typeof step !== 'object' || step === null || Array.isArray(step)) return null;
  const schema = Object.entries((step.schema ?? {}) as Record<string, JsonObject>).map(
    ([name, { values, ...field }]) => [
      name,
      Array.isArray(values) && values.length > 0 ? { ...field, values } : field,
    ],
  );
  return { instruction: step.instruction ?? '', schema: Object.fromEntries(schema) as JsonObject };
}

function actionView({ channelIds, ...action }: JsonObject): JsonObject {
  return Array.isArray(channelIds) && channelIds.length > 0 ? { ...action, channelIds } : action;
}

function scheduleView(schedule: JsonValue | undefined): JsonObject | null {
  if (typeof schedule !== 'object' || schedule === null || Array.isArray(schedule)) return null;
  return {
    startsAt: schedule.startsAt ?? null,
    endsAt: schedule.endsAt ?? null,
    timezone: schedule.timezone ?? '',
  };
}

function json(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
