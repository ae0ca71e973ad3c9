import { Inject, Injectable } from '@nestjs/common';
import type { JsonObject } from '@bufbuild/protobuf';
import { canonicalize } from 'json-canonicalize';
import type { KeywordDefinition } from '#contracts';
import type { Fault } from '#kernel';
import { HAS_MODEL, SOURCES } from '../../config.js';
import { readBody, type Spelling } from '../../http/body.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import { definitionOf, definitionView } from './definition.js';
import { KeywordBodyDto, READ_ONLY_KEYS } from './keyword-body.dto.js';
import { keywordChecks, type Sources } from './keyword-faults.js';
import { modelFaults } from './model-faults.js';

/** Keys that every keyword must have. Null cannot remove their values. */
const REQUIRED_KEYS: readonly string[] = ['name', 'refreshIntervalSeconds', 'globalCriteria', 'sources'];

/** Reads the bodies of keywords: of creates, of estimates and of changes. */
@Injectable()
export class KeywordInput {
  constructor(
    @Inject(SOURCES) private readonly sources: Sources,
    private readonly webhooks: WebhookAddresses,
    @Inject(HAS_MODEL) private readonly hasModel: boolean,
  ) {}

  private questions(body: KeywordBodyDto): (() => Fault[])[] {
    return [
      () => this.webhooks.faults(body.webhookUrl),
      () => modelFaults(body, this.hasModel),
      ...keywordChecks(body, this.sources),
    ];
  }

  /** Reads a complete body. @throws Refusal `invalid` with every fault */
  whole(body: unknown, spelling: Spelling): KeywordDefinition {
    return definitionOf(readBody(KeywordBodyDto, body, spelling, (one) => this.questions(one)));
  }

  /**
   * Applies a partial body to the existing keyword: a key that is absent in the body keeps its value; null removes the
   * value.
   * @throws Refusal `invalid` with every fault of the given keys
   */
  change(raw: unknown, spelling: Spelling, current: JsonObject): KeywordDefinition {
    const view: JsonObject = definitionView(current);
    let given = new Set<string>();
    const dto = readBody(
      KeywordBodyDto,
      withoutReadOnlyKeys(raw),
      spelling,
      (body) =>
        this.questions(body).map(
          (question) => () =>
            question().filter((fault) => concerns(fault, given) && !isOldModel(fault, body, view)),
        ),
      (changes) => {
        given = new Set(Object.keys(changes));
        const kept = Object.entries({ ...view, ...changes });
        return Object.fromEntries(
          kept.filter(([key, value]) => value !== null || !given.has(key) || REQUIRED_KEYS.includes(key)),
        );
      },
    );
    return definitionOf(dto);
  }
}

/** Keys that depend on each other: a change of one can make the other invalid. */
const TOGETHER: readonly (readonly string[])[] = [
  ['globalCriteria', 'sources'],
  ['rules', 'aiStep'],
];

/**
 * A key that the body does not contain can have become invalid since it was stored, for example because a source is no
 * longer configured. Such a key is not a fault of this change.
 */
function concerns({ path }: Fault, given: ReadonlySet<string>): boolean {
  const key = /^[^.[]*/.exec(path)?.[0] ?? '';
  return given.has(key) || TOGETHER.some((keys) => keys.includes(key) && keys.some((one) => given.has(one)));
}

/**
 * A keyword that needs a language model can be read, changed and sent back even if the installation has no language
 * model any more.
 */
function isOldModel({ path }: Fault, body: KeywordBodyDto, view: JsonObject): boolean {
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
