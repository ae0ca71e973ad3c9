import { hash, verify, type Options } from '@node-rs/argon2';
import { Injectable } from '@nestjs/common';
import PQueue from 'p-queue';
import { Refusal } from '#kernel';
import { metrics } from '#telemetry';

/** The parameters that OWASP recommends for argon2id, with 19 MiB. One hash takes 10 to 40 ms of one core. */
const OPTIONS: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Number of passwords that are hashed at the same time. The number is small, because each hash uses a whole core, and
 * other requests need the cores too.
 */
const MAX_CONCURRENT = 2;
/** The maximum number of waiting passwords. If more waited, the wait would take seconds. */
const MAX_WAITING = 100;

/** Hashes and compares passwords, a few at a time. */
@Injectable()
export class Passwords {
  private readonly queue = new PQueue({ concurrency: MAX_CONCURRENT });
  /** The hash with which a password is compared if there is no stored hash. */
  private readonly dummyHash = hash('nobody', OPTIONS);

  /**
   * Returns the hash to store, in the PHC format.
   * @throws Refusal `unavailable` if too many passwords wait
   */
  hash(password: string): Promise<string> {
    return this.queued(() => hash(canonical(password), OPTIONS));
  }

  /**
   * Returns whether the password has this hash. If there is no hash, this method does the same work and returns
   * false, so that the time does not show whether a hash exists.
   * @throws Refusal `unavailable` if too many passwords wait
   */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const against = stored ?? (await this.dummyHash);
    const isSame = await this.queued(() => verify(against, canonical(password), OPTIONS));
    return isSame && stored !== undefined;
  }

  private queued<T>(work: () => Promise<T>): Promise<T> {
    if (this.queue.size >= MAX_WAITING)
      throw Refusal.unavailable('too many attempts at the same time; try again in a few seconds');
    metrics.passwordHashes.add(1);
    return this.queue.add(work) as Promise<T>;
  }
}

/**
 * Brings a password into one form, because keyboards and systems encode the same character in several ways (NIST SP
 * 800-63B, 5.1.1.2).
 */
export function canonical(password: string): string {
  return password.normalize('NFKC');
}
