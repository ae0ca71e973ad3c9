import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api } from '../../api/client.js';
import type { Mention } from '../../api/types.js';
import { notifyFailure } from '../../parts/notify.js';
import { feedMention, type FeedMention } from './feed-mention.js';
import { withLabel, type LabelChange } from './labels.js';

/** A changed label, or corrected readings; null removes a correction. */
export interface MentionChange {
  label?: LabelChange;
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
  /** The last change of each mention; fulfilled when it has ended. */
  const last = useRef<Map<string, Promise<unknown>>>(new Map());
  /** The labels that are being saved. When one change is saved, the list must still show the later changes. */
  const [pending, setPending] = useState<readonly { id: string; label: LabelChange }[]>([]);
  const save = useMutation({
    // The changes of a mention run one after the other, because each first reads the labels and then writes them. The
    // changes of other mentions do not wait, so that a change that hangs does not delay them.
    mutationFn: ({ mention: { id }, change }: { mention: FeedMention; change: MentionChange }) => {
      const turn = (last.current.get(id) ?? Promise.resolve()).then(() => send(id, change));
      last.current.set(
        id,
        turn.catch(() => undefined),
      );
      return turn;
    },
    onMutate: ({ mention: { id }, change: { label } }) => {
      const added = label ? [{ id, label }] : [];
      setPending((before) => [...before, ...added]);
      return added;
    },
    onSuccess: (answer) => {
      setChanged((before) => new Map(before).set(answer.id, feedMention(answer)));
      queries.setQueryData(['/v1/mentions', answer.id], answer);
    },
    onError: (error) => notifyFailure('The mention was not changed', error),
    onSettled: (_answer, _error, _change, added = []) =>
      setPending((before) => before.filter((one) => !added.includes(one))),
  });
  return {
    withChanges: (mention: FeedMention) =>
      pending
        .filter(({ id }) => id === mention.id)
        .reduce<FeedMention>(
          (shown, { label }) => ({ ...shown, labels: withLabel(shown.labels, label) }),
          changed.get(mention.id) ?? mention,
        ),
    change: (mention: FeedMention, change: MentionChange) => save.mutate({ mention, change }),
  };
}

/**
 * Sends a change. The API replaces the whole list of labels, and another member can have changed the labels since this
 * page has read the mention. So the present labels are read immediately before the change is sent.
 */
async function send(id: string, { label, ...readings }: MentionChange): Promise<Mention> {
  const path = { id };
  const body = label
    ? { labels: withLabel((await api.get('/v1/mentions/{id}', { path })).labels, label) }
    : (readings as never);
  return (await api.patch('/v1/mentions/{id}', { path, body })) as Mention;
}
