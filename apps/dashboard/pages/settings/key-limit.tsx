import { Button, Group, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { count } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';

interface Props {
  id: string;
  name: string;
  /** The limit of the key; null if the default of the installation applies. */
  credits: number | null;
}

/** The credits that agents may spend with a key in a day, and a dialog that changes this limit. */
export function KeyLimit({ id, name, credits }: Props) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<number | string>();
  const save = useMutation({
    mutationFn: (mcpDailyCredits: number | null) =>
      api.patch('/v1/keys/{id}', { path: { id }, body: { mcpDailyCredits } }),
    onSuccess: async () => {
      setDraft(undefined);
      await queries.invalidateQueries({ queryKey: ['/v1/keys'] });
    },
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm">{credits === null ? 'the default' : `${count(credits)} a day`}</Text>
      <Button
        size="compact-xs"
        variant="subtle"
        aria-label={`Change what agents may spend with ${name}`}
        onClick={() => setDraft(credits ?? '')}
      >
        Change
      </Button>
      <Modal
        opened={draft !== undefined}
        onClose={() => setDraft(undefined)}
        title={
          <>
            What agents may spend with <bdi>{name}</bdi>
          </>
        }
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate(typeof draft === 'number' ? draft : null);
          }}
        >
          <Stack>
            <NumberInput
              label="Maximum credits a day through MCP"
              description="Leave it empty for the default of this installation, MCP_DAILY_CREDITS."
              min={0}
              max={1_000_000_000}
              allowDecimal={false}
              value={draft ?? ''}
              onChange={setDraft}
              data-autofocus
            />
            {save.error && <Problem error={save.error} />}
            <Group justify="flex-end">
              <Button type="submit" loading={save.isPending}>
                Save
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </Group>
  );
}
