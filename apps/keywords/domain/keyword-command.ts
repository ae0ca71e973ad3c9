import type { AgentStep, KeywordDefinition, Watch } from '#contracts';
import type { PauseReason } from './pauses.js';
import type { Reconciled } from './reconcile.js';

/** What can be asked. Ids, planned watches and everything that depends on the time come with the command. */
export type KeywordCommand =
  | {
      kind: 'create-keyword';
      definition: KeywordDefinition;
      watches: readonly Watch[];
      /** False: it is paused until its schedule begins. */
      scheduled: boolean;
      creditsRemaining: number;
    }
  | {
      kind: 'change-keyword';
      definition: KeywordDefinition;
      /** What becomes of its watches. */
      searches: Reconciled;
      /** The version that the definition was made from. */
      expectedVersion: number;
      scheduled: boolean;
      creditsRemaining: number;
    }
  | PauseCommand
  | ResumeCommand
  | { kind: 'retire-keyword' }
  | {
      kind: 'create-watch';
      watch: Watch;
      webhookUrl: string | undefined;
      ai: AgentStep | undefined;
      analysis: boolean;
      /** A watch of the account with the same search. */
      twin: Twin | undefined;
    }
  | {
      kind: 'change-watch';
      intervalSeconds: number | undefined;
      /** Empty: cleared. */
      webhookUrl: string | undefined;
      /** True takes every reason to pause away: plan and credits have to allow it by then. */
      isActive: boolean | undefined;
      twin: Twin | undefined;
      creditsRemaining: number;
    }
  | { kind: 'retire-watch' };

/** A watch that has the same search. */
export interface Twin {
  watchId: string;
  /** The keyword that it belongs to; undefined of a lone watch. */
  keyword: { id: string; name: string } | undefined;
}

/** Adds a reason to pause. */
export interface PauseCommand {
  kind: 'pause';
  reason: PauseReason;
  /** The account's. */
  creditsRemaining: number;
  /** With `insufficient_credits`: what the check needed. */
  creditsNeeded: number;
}

/** Takes reasons to pause away. */
export interface ResumeCommand {
  kind: 'resume';
  reasons: readonly PauseReason[];
  creditsRemaining: number;
}
