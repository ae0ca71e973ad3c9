import { ActionIcon, Menu, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CopyPlus, Ellipsis, Pause, Play, Trash2, Archive } from 'lucide-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../../api/client.js';
import type { Keyword } from '../../api/types.js';
import { Confirm } from '../../parts/confirm.js';
import { notify, notifyFailure } from '../../parts/notify.js';

/** The menu with which a member pauses, resumes, copies, retires and purges a keyword. */
export function KeywordActions({ keyword }: { keyword: Keyword }) {
  const path = { id: keyword.id };
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'retire' | 'purge'>();
  const isPaused = keyword.pausedReason === 'user' || keyword.pausedReason === 'plan';
  const switching = useMutation({
    mutationFn: () =>
      isPaused
        ? api.post('/v1/keywords/{id}/resume', { path })
        : api.post('/v1/keywords/{id}/pause', { path }),
    onSuccess: (answer) => {
      queries.setQueryData(['/v1/keywords', keyword.id], answer);
      notify(isPaused ? 'The keyword runs again.' : 'The keyword is paused.');
    },
    onError: (error) =>
      notifyFailure(isPaused ? 'The keyword was not resumed' : 'The keyword was not paused', error),
  });
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="More actions">
            <Ellipsis size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {keyword.state !== 'retired' && (
            <Menu.Item
              leftSection={isPaused ? <Play size={15} aria-hidden /> : <Pause size={15} aria-hidden />}
              onClick={() => switching.mutate()}
            >
              {isPaused ? 'Resume' : 'Pause'}
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<CopyPlus size={15} aria-hidden />}
            onClick={() => void navigate(`/keywords/new?from=${keyword.id}`)}
          >
            Make a copy
          </Menu.Item>
          <Menu.Divider />
          {keyword.state !== 'retired' && (
            <Menu.Item leftSection={<Archive size={15} aria-hidden />} onClick={() => setAsked('retire')}>
              Retire …
            </Menu.Item>
          )}
          <Menu.Item
            color="red"
            leftSection={<Trash2 size={15} aria-hidden />}
            onClick={() => setAsked('purge')}
          >
            Purge …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked && (
        <DeleteDialog
          key={asked}
          keyword={keyword}
          purge={asked === 'purge'}
          close={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function DeleteDialog({ keyword, purge, close }: { keyword: Keyword; purge: boolean; close: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    mutationFn: () =>
      api.delete('/v1/keywords/{id}', { path: { id: keyword.id }, ...(purge && { query: { purge: true } }) }),
    onSuccess: async () => {
      queries.removeQueries({ queryKey: ['/v1/keywords', keyword.id] });
      await queries.invalidateQueries({ queryKey: ['/v1/keywords', 'list'] });
      await navigate('/keywords');
    },
  });
  return (
    <Confirm
      title={
        <>
          {purge ? 'Purge' : 'Retire'} <bdi>{keyword.name}</bdi>?
        </>
      }
      action={purge ? 'Purge permanently' : 'Retire'}
      isPending={remove.isPending}
      error={remove.error}
      isReady={!purge || asShown(typed) === asShown(keyword.name)}
      onConfirm={() => remove.mutate()}
      onClose={close}
    >
      {purge ? (
        <>
          The keyword, its mentions and its events are deleted from every store. This cannot be undone.
          <TextInput
            mt="sm"
            label={
              <>
                Type <bdi>{keyword.name}</bdi> to continue
              </>
            }
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </>
      ) : (
        'A retired keyword finds no more mentions, and cannot be changed or resumed. Its mentions and events stay readable.'
      )}
    </Confirm>
  );
}

/** Returns the text as a browser shows it: without repeated spaces. */
const asShown = (text: string) => text.replace(/\s+/g, ' ').trim();
