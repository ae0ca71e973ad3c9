import { Alert, Button, Code, Group, List, Modal, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { channelName, useChannels } from '../../api/channels.js';
import { count } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { changesOf, startingOver, type Change } from './changes.js';
import type { KeywordBody } from './draft.js';
import { estimateQuery, type useEstimate } from './use-estimate.js';

interface Props {
  before: KeywordBody;
  after: KeywordBody;
  estimate: ReturnType<typeof useEstimate>['data'];
  stored: { id: string; monthlyCredits: number };
  isPending: boolean;
  error: unknown;
  onSave: () => void;
  onClose: () => void;
}

/** Shows what a save changes: keys before and after, searches that start over, and the price. */
export function ChangesDialog({ before, after, estimate, stored, isPending, error, onSave, onClose }: Props) {
  const channels = useChannels();
  const changes = changesOf(before, after, (id) => channelName(id, channels));
  const estimateBefore = useQuery(estimateQuery(JSON.stringify(before), stored.id));
  const priced = estimate?.valid ? estimate.estimate : undefined;
  const restarting =
    priced && estimateBefore.data?.valid
      ? startingOver(estimateBefore.data.estimate.normalized.sources, priced.normalized.sources)
      : [];
  return (
    <Modal opened onClose={onClose} title="Save these changes?" size="xl">
      <Stack>
        <ChangeTable changes={changes} />
        {restarting.length > 0 && (
          <Alert color="yellow" icon={<RotateCcw size={17} aria-hidden />} title="These searches start over">
            <List size="sm">
              {restarting.map((name) => (
                <List.Item key={name} className="foreign">
                  {name}
                </List.Item>
              ))}
            </List>
            <Text size="sm" mt={4}>
              The next check of these searches reports nothing: it only records the existing posts. Stored
              mentions stay.
            </Text>
          </Alert>
        )}
        {priced && (
          <Text size="sm">
            Credits a month: <b>{count(stored.monthlyCredits)}</b> now, <b>{count(priced.monthlyCredits)}</b>{' '}
            afterwards.
          </Text>
        )}
        {error !== null && error !== undefined && <Problem error={error} title="The keyword was not saved" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Continue editing
          </Button>
          <Button loading={isPending} disabled={changes.length === 0} onClick={onSave}>
            Save
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function ChangeTable({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return <Text size="sm">Nothing has changed.</Text>;
  return (
    <Table.ScrollContainer minWidth={480} type="native" mah="50vh">
      <Table verticalSpacing="xs" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="24%">What</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ key, label, before, after }) => (
            <Table.Tr key={key}>
              <Table.Td>{label}</Table.Td>
              <Table.Td>
                <Code block className="foreign">
                  {before}
                </Code>
              </Table.Td>
              <Table.Td>
                <Code block className="foreign">
                  {after}
                </Code>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
