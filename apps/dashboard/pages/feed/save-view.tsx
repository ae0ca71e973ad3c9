import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { saveView } from '../../api/views.js';
import { showFaults, shownPathsIn } from '../../parts/faults.js';
import { Problem } from '../../parts/problem.js';

/** Saves the current filters under a name, for all members. */
export default function SaveDialog({ address, close }: { address: string; close: () => void }) {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: '' } });
  const save = useMutation({
    mutationFn: () => saveView({ name: form.values.name.trim(), query: address }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/v1/views'] });
      close();
    },
    onError: (error) => showFaults(form, error),
  });
  return (
    <Modal opened onClose={close} title="Save a view">
      <form onSubmit={form.onSubmit(() => save.mutate())}>
        <Stack>
          <TextInput label="Name" required maxLength={80} data-autofocus {...form.getInputProps('name')} />
          {save.error && <Problem error={save.error} shownPaths={shownPathsIn(form)} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
