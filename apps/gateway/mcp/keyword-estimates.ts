import { Refusal, type Fault } from '#kernel';
import { MONTH_SECONDS } from '#quotes';
import { refusalKindOf } from '#transport';
import type { ToolContext } from './tool.js';

/** The part of an estimate that the tools use. Amounts in credits. */
export type Estimate = {
  monthlyCredits: number;
  firstScanCredits: number;
  /** The first check, or the first scan, of each search that starts. */
  startCredits: number;
  bySearch: readonly { creditsPerCheck: number }[];
};

/** The estimate of a call that costs nothing. */
export const FREE: Estimate = { monthlyCredits: 0, firstScanCredits: 0, startCredits: 0, bySearch: [] };

/** The response of `POST /v1/keywords/estimate`. */
export type EstimateAnswer =
  | { valid: false; refusal: { status: number; code: string; message: string; details?: readonly Fault[] } }
  | {
      valid: true;
      estimate: Estimate;
      estimateToken: string;
      estimateTokenExpiresAt: string;
    };

/** Estimates a new keyword, or a change of the keyword with the id `changed`. */
export async function estimateOf(
  { caller, routes }: Pick<ToolContext, 'caller' | 'routes'>,
  keyword: object,
  changed?: string,
): Promise<EstimateAnswer> {
  return (await routes.keywordCreate.estimateKeyword(
    caller,
    { keyword: changed },
    keyword,
  )) as EstimateAnswer;
}

/**
 * Returns the estimate in an answer. Without an estimate the amount to reserve is unknown, so the write is not tried.
 * @throws Refusal of the estimate; the write would be refused in the same way
 */
export function estimateIn(found: EstimateAnswer): Estimate {
  if (found.valid) return withStartCredits(found.estimate);
  const { status, code, message, details } = found.refusal;
  throw new Refusal(refusalKindOf(status), code, message, details);
}

/**
 * Adds `startCredits` if they are missing: during an update, a keywords service of the previous release does not return
 * them. Then the maximum of these credits is counted.
 */
function withStartCredits(estimate: Estimate): Estimate {
  const { startCredits = estimate.firstScanCredits + oncePerSearch(estimate) } =
    estimate as Partial<Estimate> & Estimate;
  return { ...estimate, startCredits };
}

const oncePerSearch = ({ bySearch }: Estimate) =>
  bySearch.reduce((sum, { creditsPerCheck }) => sum + creditsPerCheck, 0);

/**
 * Returns the credits that a resumed keyword can spend today. The checks that are due immediately count even if the
 * interval is longer than a day.
 */
export async function resumeCredits(
  context: Pick<ToolContext, 'caller' | 'routes'>,
  id: string,
): Promise<number> {
  const estimate = estimateIn(await estimateOf(context, {}, id));
  return Math.max(oncePerSearch(estimate), creditsADay(estimate.monthlyCredits));
}

/** Returns the part of a month's credits that belongs to one day. */
export function creditsADay(monthlyCredits: number): number {
  return monthlyCredits / (MONTH_SECONDS / 86_400);
}
