import { Inject, Injectable } from '@nestjs/common';
import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { canonicalize } from 'json-canonicalize';
import { KeywordDefinitionSchema, type KeywordDefinition } from '#contracts';
import type { Fault } from '#kernel';
import { HAS_MODEL, SOURCES } from '../../config.js';
import { readBody, type Spelling } from '../../http/body.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import { definitionOf, definitionView } from './definition.js';
import { KeywordBodyDto, READ_ONLY_KEYS } from './keyword-body.dto.js';
import { keywordChecks, type Sources } from './keyword-faults.js';
import { modelFaults } from './model-faults.js';
import { keepRuleIds } from './rule-ids.js';

/** Keys that every keyword must have. Null cannot remove their values. */
const REQUIRED_KEYS: readonly string[] = ['name', 'refreshIntervalSeconds', 'globalCriteria', 'sources'];

/** Reads keywords from the bodies of creates, estimates, changes and backtests. */
@Injectable()
export class KeywordInput {
  constructor(
    @Inject(SOURCES) private readonly sources: Sources,
    private readonly webhooks: WebhookAddresses,
    @Inject(HAS_MODEL) private readonly hasModel: boolean,
  ) {}

  private checks(body: KeywordBodyDto): (() => Fault[])[] {
    return [
      () => this.webhooks.faults(body.webhookUrl),
      () => modelFaults(body, this.hasModel),
      ...keywordChecks(body, this.sources),
    ];
  }

  /** Reads a complete body. @throws Refusal `invalid` with the faults, as `readBody` reports them */
  whole(body: unknown, spelling: Spelling): KeywordDefinition {
    return definitionOf(readBody(KeywordBodyDto, body, spelling, (one) => this.checks(one)));
  }

  /**
   * Applies a partial body to the existing keyword: a key that is absent in the body keeps its value; null removes the
   * value of a key that is not required. Rules without an id keep their ids, see `keepRuleIds`.
   * @throws Refusal `invalid` with the faults of the given keys and of the keys that depend on them. Unchanged keys
   * that need a language model have no faults.
   */
  change(raw: unknown, spelling: Spelling, current: JsonObject): KeywordDefinition {
    const view: JsonObject = definitionView(current);
    let given = new Set<string>();
    const dto = readBody(
      KeywordBodyDto,
      withoutReadOnlyKeys(raw),
      spelling,
      (body) =>
        this.checks(body).map(
          (check) => () =>
            check().filter((fault) => concerns(fault, given) && !isUnchangedModelKey(fault, body, view)),
        ),
      (changes) => {
        given = new Set(Object.keys(changes));
        const kept = Object.entries({ ...view, ...changes });
        return Object.fromEntries(
          kept.filter(([key, value]) => value !== null || !given.has(key) || REQUIRED_KEYS.includes(key)),
        );
      },
    );
    const definition = definitionOf(dto);
    keepRuleIds(definition.rules, fromJson(KeywordDefinitionSchema, current).rules);
    return definition;
  }
}

/** Keys that depend on each other: a change of one key can make the other key invalid. */
const DEPENDENT_KEYS: readonly (readonly string[])[] = [
  ['globalCriteria', 'sources'],
  ['rules', 'aiStep'],
];

/**
 * Returns whether the fault is about a key of the body, or about a key that depends on a key of the body. Faults of
 * other keys are not reported, because the sender did not cause them: a stored key becomes invalid, for example, if a
 * source is no longer configured.
 */
function concerns({ path }: Fault, given: ReadonlySet<string>): boolean {
  const key = /^[^.[]*/.exec(path)?.[0] ?? '';
  return (
    given.has(key) || DEPENDENT_KEYS.some((keys) => keys.includes(key) && keys.some((one) => given.has(one)))
  );
}

/**
 * Returns whether the fault is about a key that needs a language model and that the body does not change. So a keyword
 * can be read, changed and sent back even if the installation has no language model any more.
 */
function isUnchangedModelKey({ path }: Fault, body: KeywordBodyDto, view: JsonObject): boolean {
  if (path !== 'aiStep' && path !== 'aiPreset') return false;
  return canonicalize(body[path] ?? null) === canonicalize(view[path] ?? null);
}

/** Removes the read-only keys, so that a keyword can be read, changed and sent back. */
export function withoutReadOnlyKeys(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !READ_ONLY.has(key)));
}

const READ_ONLY: ReadonlySet<string> = new Set(
  READ_ONLY_KEYS.flatMap((key) => [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
);
