import { unknownShape, type JsonRecord } from '../shared/shape.js';
import { UpstreamError, type LookupAnswer, type LookupContext } from '../source.js';
import { ask, type XSettings } from './ask.js';
import { failuresOf, type Failure } from './partial-errors.js';
import { handleOf } from './query.js';
import { userUrl } from './request.js';
import { userOf, type User } from './user.js';

/** A definite negative answer. */
export type Refused = Extract<LookupAnswer, { kind: 'refused' }>;

const REFUSALS: Readonly<Record<Failure, { code: string; message: (ref: string) => string }>> = {
  not_found: { code: 'USER_NOT_FOUND', message: (ref) => `There is no account "${ref}" on x` },
  protected: {
    code: 'USER_PROTECTED',
    message: (ref) => `The account "${ref}" is protected: only its followers see it`,
  },
  suspended: { code: 'USER_SUSPENDED', message: (ref) => `The account "${ref}" is suspended` },
};

const SESSION_KEY = 'x.accounts';
// The numbers of accounts are cached, because a name rarely moves to another account, and each read of a profile costs
// the operator a cent.
const KEPT_MS = 3_600_000;
const MAX_KEPT = 5_000;

/**
 * Returns the profile of an account by its name (with or without @) or number; a refusal if X does not show it.
 * @throws UpstreamError if X does not answer correctly
 */
export async function profileOf(
  ref: string,
  context: LookupContext,
  settings: XSettings,
): Promise<{ kind: 'profile'; user: User } | Refused> {
  const named = namedBy(ref);
  // X answers 400, and not 404, to an impossible name.
  if (!named) return refusalOf(ref, 'not_found');
  const asked = await askAbout(ref, userUrl(named), context, settings);
  if (asked.kind === 'refused') return asked;
  const user = userOf(asked.answer['data']);
  if (!user) throw unknownShape('x', 'a user with an id and a name');
  return { kind: 'profile', user };
}

/**
 * Returns the number of an account, cached for an hour. A protected account is refused. If `ref` is a number, this
 * number is returned without a request, so Earshot does not know whether the account is protected.
 * @throws UpstreamError if X does not answer correctly
 */
export async function accountIdOf(
  ref: string,
  context: LookupContext,
  settings: XSettings,
): Promise<{ kind: 'id'; id: string } | Refused> {
  const named = namedBy(ref);
  if (named && 'id' in named) return { kind: 'id', id: named.id };
  const kept = keptIn(context);
  const key = named?.username.toLowerCase() ?? '';
  const known = kept.get(key);
  if (known && known.untilMs > context.now.getTime()) return { kind: 'id', id: known.id };
  const profile = await profileOf(ref, context, settings);
  if (profile.kind === 'refused') return profile;
  const { user } = profile;
  // A protected account is not cached, because it can become public at any time.
  if (user.protected === true) return refusalOf(ref, 'protected');
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(key, { id: user.id, untilMs: context.now.getTime() + KEPT_MS });
  return { kind: 'id', id: user.id };
}

/**
 * Sends a request about an account.
 * @returns a refusal if X does not show the account
 * @throws UpstreamError if X does not answer correctly
 */
export async function askAbout(
  ref: string,
  url: string,
  context: LookupContext,
  settings: XSettings,
): Promise<{ kind: 'answered'; answer: JsonRecord } | Refused> {
  try {
    const answer = await ask(context, settings, url);
    const [failure] = answer['data'] === undefined ? failuresOf(answer).values() : [];
    return failure === undefined ? { kind: 'answered', answer } : refusalOf(ref, failure);
  } catch (error) {
    if (error instanceof UpstreamError && error.kind === 'not_found') return refusalOf(ref, 'not_found');
    throw error;
  }
}

function refusalOf(ref: string, failure: Failure): Refused {
  const { code, message } = REFUSALS[failure];
  return { kind: 'refused', code, message: message(ref) };
}

function namedBy(ref: string): { username: string } | { id: string } | undefined {
  if (/^\d{1,19}$/.test(ref)) return { id: ref };
  const username = handleOf(ref);
  return username === undefined ? undefined : { username };
}

function keptIn({ session }: LookupContext): Map<string, { id: string; untilMs: number }> {
  const kept = session.get(SESSION_KEY) ?? new Map();
  session.set(SESSION_KEY, kept);
  return kept as Map<string, { id: string; untilMs: number }>;
}
