import { Badge } from '@mantine/core';
import type { Keyword } from '../api/types.js';

const REASONS: Readonly<Record<NonNullable<Keyword['pausedReason']>, string>> = {
  user: 'Paused',
  plan: 'Paused by the plan',
  schedule: 'Outside of its schedule',
  insufficient_credits: 'Out of credits',
};

/** Shows whether a keyword runs, and the reason if the keyword is paused. */
export function KeywordState({
  keyword: { state, pausedReason },
}: {
  keyword: Pick<Keyword, 'state' | 'pausedReason'>;
}) {
  if (state === 'active') return <Badge color="teal">Active</Badge>;
  if (state === 'retired') return <Badge color="gray">Retired</Badge>;
  return (
    <Badge color={pausedReason === 'insufficient_credits' || pausedReason === 'plan' ? 'red' : 'yellow'}>
      {pausedReason ? REASONS[pausedReason] : 'Paused'}
    </Badge>
  );
}
