import { Badge, Group } from '@mantine/core';
import type { Keyword } from '../api/types.js';
import { plural } from './format.js';

const REASONS: Readonly<Record<NonNullable<Keyword['pausedReason']>, string>> = {
  user: 'Paused',
  plan: 'Paused by the plan',
  schedule: 'Outside of its schedule',
  insufficient_credits: 'Out of credits',
};

/**
 * Shows whether a keyword runs, and the reason if the keyword is paused. For a keyword that runs, also shows how many
 * of its searches have failed at their last check. If there are no new mentions, these failures can be the reason.
 */
export function KeywordState({
  keyword: { state, pausedReason, watches = [] },
}: {
  keyword: Pick<Keyword, 'state' | 'pausedReason'> & Partial<Pick<Keyword, 'watches'>>;
}) {
  const failing = watches.filter(({ lastStatus }) => lastStatus === 'failed').length;
  if (state === 'active')
    return (
      <Group gap={4}>
        <Badge color="teal">Active</Badge>
        {failing > 0 && (
          <Badge color="red">
            {failing === watches.length
              ? 'Checks fail'
              : `${failing} of ${plural(watches.length, 'search fails', 'searches fail')}`}
          </Badge>
        )}
      </Group>
    );
  if (state === 'retired') return <Badge color="gray">Retired</Badge>;
  return (
    <Badge color={pausedReason === 'insufficient_credits' || pausedReason === 'plan' ? 'red' : 'yellow'}>
      {pausedReason ? REASONS[pausedReason] : 'Paused'}
    </Badge>
  );
}
