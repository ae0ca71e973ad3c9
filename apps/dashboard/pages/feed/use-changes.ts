import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Label, Mention } from '../../api/types.js';
import { notifyFailure } from '../../parts/notify.js';
import { feedMention, type FeedMention } from './feed-mention.js';

/** Changed labels or corrected readings; null removes a correction. */
export interface MentionChange {
  labels?: Label[];
  sentiment?: string | null;
  intent?: string | null;
  relevance?: number | null;
}

/**
 * Changes mentions. The list keeps the mentions as they were read, and applies the changes with `withChanges`: changed
 * labels immediately, and other changes when the API has responded.
 */
export function useChanges() {
  const queries = useQueryClient();
  const [changed, setChanged] = useState<ReadonlyMap<string, FeedMention>>(new Map());
  const put = (mention: FeedMention) => setChanged((before) => new Map(before).set(mention.id, mention));
  const save = useMutation({
    mutationFn: ({ mention, change }: { mention: FeedMention; change: MentionChange }) =>
      api.patch('/v1/mentions/{id}', { path: { id: mention.id }, body: change as never }) as Promise<Mention>,
    onMutate: ({ mention, change }) => {
      if (change.labels) put({ ...mention, labels: change.labels });
    },
    onSuccess: (answer) => {
      put(feedMention(answer));
      queries.setQueryData(['/v1/mentions', answer.id], answer);
    },
    onError: (error, { mention }) => {
      put(mention);
      notifyFailure('The mention was not changed', error);
    },
  });
  return {
    withChanges: (mention: FeedMention) => changed.get(mention.id) ?? mention,
    change: (mention: FeedMention, change: MentionChange) => save.mutate({ mention, change }),
  };
}

/** Adds the label if it is missing, otherwise removes it. */
export const toggled = (labels: readonly Label[], label: Label): Label[] =>
  labels.includes(label) ? labels.filter((one) => one !== label) : [...labels, label];
