import type { AgentStep, KeywordDefinition, Watch } from '#contracts';
import type { PauseReason } from './pauses.js';
import type { Reconciled } from './reconcile.js';

/**
 * The commands on one keyword, or on one watch without a keyword. A handler has added new ids, planned watches and
 * everything that depends on the time.
 */
export type KeywordCommand =
  | {
      kind: 'create-keyword';
      definition: KeywordDefinition;
      watches: readonly Watch[];
      /** False: the keyword is outside its schedule, so it is paused. */
      scheduled: boolean;
      creditsRemaining: number;
    }
  | {
      kind: 'change-keyword';
      definition: KeywordDefinition;
      /** The changes of the keyword's watches. */
      searches: Reconciled;
      /** The version on which the definition is based. */
      expectedVersion: number;
      scheduled: boolean;
      creditsRemaining: number;
    }
  | PauseCommand
  | ResumeCommand
  | { kind: 'retire-keyword' }
  | { kind: 'rotate-feed'; feedKey: string }
  | {
      kind: 'create-watch';
      watch: Watch;
      webhookUrl: string | undefined;
      ai: AgentStep | undefined;
      analysis: boolean;
      /** Another watch of the account with the same search. It runs, or it can resume automatically. */
      duplicate: DuplicateWatch | undefined;
    }
  | {
      kind: 'change-watch';
      intervalSeconds: number | undefined;
      /** An empty text removes the address. */
      webhookUrl: string | undefined;
      /**
       * True: removes every reason of the pause; the caller has checked plan and credits. False: adds the reason
       * `user`.
       */
      isActive: boolean | undefined;
      duplicate: DuplicateWatch | undefined;
      creditsRemaining: number;
    }
  | { kind: 'retire-watch' };

/** A watch with the same search. */
export interface DuplicateWatch {
  watchId: string;
  /** The keyword of the watch; undefined for a watch without a keyword. */
  keyword: { id: string; name: string } | undefined;
}

/** Adds a reason for a pause. */
export interface PauseCommand {
  kind: 'pause';
  reason: PauseReason;
  /** The credits of the account. */
  creditsRemaining: number;
  /** With `insufficient_credits`: the credits that the check needed. */
  creditsNeeded: number;
}

/** Removes reasons for a pause. */
export interface ResumeCommand {
  kind: 'resume';
  reasons: readonly PauseReason[];
  creditsRemaining: number;
}
