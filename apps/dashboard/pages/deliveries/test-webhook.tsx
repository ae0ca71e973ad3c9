import { Alert, Button, Code, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { patientApi } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import { showFaults } from '../../parts/faults.js';
import { count } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';

/** Sends a signed sample to an address, and shows what the receiver answered. */
export function TestWebhook() {
  const canEdit = useCanEdit();
  const form = useForm({ initialValues: { url: '' } });
  const test = useMutation({
    mutationFn: ({ url }: { url: string }) => patientApi.post('/v1/webhooks/test', { body: { url } }),
    onError: (error) => showFaults(form, error),
  });
  if (!canEdit) return null;
  return (
    <Paper p="md" mb="md" bg="var(--surface)">
      <form onSubmit={form.onSubmit((values) => test.mutate(values))}>
        <Group align="flex-end" gap="sm">
          <TextInput
            flex={1}
            miw={240}
            type="url"
            label="Try an address"
            description="Sends a signed sample event. Nothing is stored."
            placeholder="https://example.com/hooks/earshot"
            {...form.getInputProps('url')}
          />
          <Button type="submit" loading={test.isPending} leftSection={<FlaskConical size={16} aria-hidden />}>
            Send a test
          </Button>
        </Group>
      </form>
      {test.error && (
        <Stack mt="sm">
          <Problem error={test.error} title="The test was not sent" shownPaths={['url']} />
        </Stack>
      )}
      {test.data && (
        <Alert
          mt="sm"
          color={test.data.delivered ? 'teal' : 'red'}
          role="status"
          title={test.data.delivered ? 'Delivered' : 'Not delivered'}
        >
          <Text size="sm" className="foreign">
            {test.data.statusCode === null ? 'No response' : `Status ${test.data.statusCode}`} after{' '}
            {count(test.data.durationMs)} ms
            {test.data.message && `: ${test.data.message}`}
          </Text>
          <details>
            <Text component="summary" size="sm" mt="xs">
              What was sent
            </Text>
            <Code block mt="xs" tabIndex={0}>
              {Object.entries(test.data.requestHeaders as Record<string, string>)
                .map(([name, value]) => `${name}: ${value}`)
                .join('\n')}
              {`\n\n${String(test.data.requestBody)}`}
            </Code>
          </details>
        </Alert>
      )}
    </Paper>
  );
}
