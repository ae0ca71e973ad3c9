import { Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import { Confirm } from '../../parts/confirm.js';
import { CopyField } from '../../parts/copy-field.js';
import { Section } from '../../parts/section.js';
import { Loaded, LoadingRows } from '../../parts/states.js';

/** The secret addresses of the keyword's feeds, for feed readers. */
export function FeedAddresses({ keywordId }: { keywordId: string }) {
  const path = { id: keywordId };
  const queryKey = ['/v1/keywords', keywordId, 'feed'];
  const canEdit = useCanEdit();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const feed = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get('/v1/keywords/{id}/feed', { path, signal }),
  });
  const rotate = useMutation({
    mutationFn: () => api.post('/v1/keywords/{id}/feed/rotate', { path }),
    onSuccess: (answer) => {
      queries.setQueryData(queryKey, answer);
      setAsking(false);
    },
  });
  return (
    <Section
      title="Feed readers"
      lead="Anyone who has an address can read the newest 50 mentions with it."
      actions={
        canEdit && (
          <Button variant="default" size="xs" onClick={() => setAsking(true)}>
            Replace the addresses
          </Button>
        )
      }
    >
      <Loaded query={feed} loading={<LoadingRows rows={1} height={60} />}>
        {({ atomUrl, jsonUrl }) => (
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <CopyField label="Atom" value={atomUrl} />
            <CopyField label="JSON Feed" value={jsonUrl} />
          </SimpleGrid>
        )}
      </Loaded>
      {isAsking && (
        <Confirm
          title="Replace the addresses of the feeds?"
          action="Replace"
          isPending={rotate.isPending}
          error={rotate.error}
          onConfirm={() => rotate.mutate()}
          onClose={() => setAsking(false)}
        >
          <Stack gap="xs">
            <Text size="sm">Every reader that uses the present addresses gets a 404 immediately.</Text>
          </Stack>
        </Confirm>
      )}
    </Section>
  );
}
