import { Inject, Injectable } from '@nestjs/common';
import type { JsonObject } from '@bufbuild/protobuf';
import type { KeywordDefinition } from '#contracts';
import type { Fault } from '#kernel';
import { SOURCES } from '../../config.js';
import { readBody, type Spelling } from '../../http/body.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import { definitionOf, definitionView } from './definition.js';
import { KeywordBodyDto, READ_ONLY_KEYS } from './keyword-body.dto.js';
import { keywordQuestions, type Sources } from './keyword-faults.js';

/** Keys that every keyword has: null is no way to clear them. */
const REQUIRED_KEYS: readonly string[] = ['name', 'refreshIntervalSeconds', 'globalCriteria', 'sources'];

/** Reads the bodies of keywords: for a create, its estimate and a change alike. */
@Injectable()
export class KeywordInput {
  constructor(
    @Inject(SOURCES) private readonly sources: Sources,
    private readonly webhooks: WebhookAddresses,
  ) {}

  private questions(body: KeywordBodyDto): (() => Fault[])[] {
    return [() => this.webhooks.faults(body.webhookUrl), ...keywordQuestions(body, this.sources)];
  }

  /** A whole body. @throws Refusal `invalid` with every fault */
  whole(body: unknown, spelling: Spelling): KeywordDefinition {
    return definitionOf(readBody(KeywordBodyDto, body, spelling, (one) => this.questions(one)));
  }

  /**
   * A partial body over the keyword that there is: a key that is absent stays, null clears it.
   * @throws Refusal `invalid` with every fault of what was given
   */
  change(raw: unknown, spelling: Spelling, current: JsonObject): KeywordDefinition {
    let given = new Set<string>();
    const dto = readBody(
      KeywordBodyDto,
      withoutReadOnlyKeys(raw),
      spelling,
      (body) =>
        this.questions(body).map((question) => () => question().filter((fault) => concerns(fault, given))),
      (changes) => {
        given = new Set(Object.keys(changes));
        const kept = Object.entries({ ...definitionView(current), ...changes });
        return Object.fromEntries(
          kept.filter(([key, value]) => value !== null || !given.has(key) || REQUIRED_KEYS.includes(key)),
        );
      },
    );
    return definitionOf(dto);
  }
}

/** Keys that have to fit each other: a change of one can make the other wrong. */
const TOGETHER: readonly (readonly string[])[] = [
  ['globalCriteria', 'sources'],
  ['rules', 'aiStep'],
];

/** What was not touched may have become wrong meanwhile (a source that is no longer configured): no fault of this change. */
function concerns({ path }: Fault, given: ReadonlySet<string>): boolean {
  const key = /^[^.[]*/.exec(path)?.[0] ?? '';
  return given.has(key) || TOGETHER.some((keys) => keys.includes(key) && keys.some((one) => given.has(one)));
}

/** They are taken and passed over, so that a keyword can be read, changed and sent back. */
export function withoutReadOnlyKeys(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !READ_ONLY.has(key)));
}

const READ_ONLY: ReadonlySet<string> = new Set(
  READ_ONLY_KEYS.flatMap((key) => [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
);
