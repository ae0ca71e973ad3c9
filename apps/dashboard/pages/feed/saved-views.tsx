import { ActionIcon, Button, Group, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bookmark, Plus, Trash2 } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useNavigate } from 'react-router';
import { useCanEdit } from '../../api/session.js';
import { deleteView, listViews } from '../../api/views.js';
import { notifyFailure } from '../../parts/notify.js';

const SaveDialog = lazy(() => import('./save-view.js'));

const VIEWS = ['/v1/views'] as const;

/** The views that the members have saved, and the dialog that saves the current filters as a view. */
export default function SavedViews({ address }: { address: string }) {
  const [isSaving, saving] = useDisclosure(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canEdit = useCanEdit();
  const views = useQuery({ queryKey: VIEWS, queryFn: ({ signal }) => listViews(signal) });
  const remove = useMutation({
    mutationFn: deleteView,
    onError: (error) => notifyFailure('The view was not deleted', error),
    onSettled: () => queries.invalidateQueries({ queryKey: VIEWS }),
  });
  const saved = views.data?.data ?? [];
  return (
    <>
      <Menu position="bottom-end" width={280} defaultOpened>
        <Menu.Target>
          <Button variant="default" leftSection={<Bookmark size={16} aria-hidden />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.length === 0 && (
            <Text size="sm" c="dimmed" p="xs">
              {views.error
                ? 'The views cannot be read.'
                : 'A view keeps the filters for all members of the account.'}
            </Text>
          )}
          {saved.map(({ id, name, query }) => (
            <Group key={id} gap={4} wrap="nowrap">
              <Menu.Item flex={1} className="foreign" onClick={() => void navigate(`/feed?${query}`)}>
                {name}
              </Menu.Item>
              {canEdit && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Delete the view ${name}`}
                  onClick={() => remove.mutate(id)}
                >
                  <Trash2 size={15} aria-hidden />
                </ActionIcon>
              )}
            </Group>
          ))}
          {canEdit && (
            <>
              <Menu.Divider />
              <Menu.Item leftSection={<Plus size={15} aria-hidden />} onClick={saving.open}>
                Save these filters
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Suspense>{isSaving && <SaveDialog address={address} close={saving.close} />}</Suspense>
    </>
  );
}
