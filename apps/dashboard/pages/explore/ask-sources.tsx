import { Alert, Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import type { Source } from '../../api/types.js';
import { showFaults } from '../../parts/faults.js';
import { credits, plural } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { sourceName } from '../../parts/source.js';
import { SOURCES } from '../../api/values.js';
import { Run } from './run.js';

interface Question {
  question: string;
  sources: Source[];
}

/** Shows the price of a question, then asks sources once. */
export function AskSources() {
  const canEdit = useCanEdit();
  const [params, setParams] = useSearchParams();
  const [price, setPrice] = useState<{ body: Question; token: string; credits: number; remaining: number }>();
  const [refusal, setRefusal] = useState<string>();
  const configured = useQuery({
    queryKey: ['/v1/sources'],
    queryFn: ({ signal }) => api.get('/v1/sources', { signal }),
  });
  const form = useForm<Question>({
    initialValues: { question: '', sources: ['hackernews', 'reddit', 'bluesky'] },
  });
  const estimate = useMutation({
    mutationFn: (body: Question) => api.post('/v1/explore/estimate', { body }),
    onSuccess: (answer, body) => {
      setRefusal(answer.valid ? undefined : answer.refusal.message);
      if (answer.valid)
        setPrice({
          body,
          token: answer.estimateToken,
          credits: answer.estimate.credits,
          remaining: answer.estimate.creditsRemaining,
        });
    },
    onError: (error) => showFaults(form, error, (path) => path.replace(/\[\d+\]$/, '')),
  });
  const start = useMutation({
    mutationFn: ({ body, token }: { body: Question; token: string }) =>
      api.post('/v1/explore', { body, headers: { 'service-estimate-token': token } }),
    onSuccess: ({ id }) => {
      setPrice(undefined);
      setParams({ run: id });
    },
    // The price can have expired or changed. The button that shows the price appears again.
    onError: () => setPrice(undefined),
  });
  const usable = new Set(
    configured.data?.data.filter((one) => one.configured && one.enabled).map(({ id }) => id) ?? [],
  );
  const options = SOURCES.map((value) => ({
    value,
    label: sourceName(value) + (configured.data && !usable.has(value) ? ' (not available)' : ''),
    disabled: configured.data !== undefined && !usable.has(value),
  }));
  const runId = params.get('run');
  return (
    <Stack>
      {canEdit && (
        <Section title="Ask sources once" lead="Each source is searched now. Nothing is polled afterwards.">
          <form onSubmit={form.onSubmit((values) => estimate.mutate(values))}>
            <Stack gap="sm">
              <TextInput
                label="Words to search for"
                required
                placeholder="acme rocket alternatives"
                {...form.getInputProps('question')}
                onChange={(event) => {
                  setPrice(undefined);
                  form.getInputProps('question').onChange(event);
                }}
              />
              <MultiSelect
                label="Sources"
                required
                data={options}
                {...form.getInputProps('sources')}
                onChange={(value) => {
                  setPrice(undefined);
                  form.setFieldValue('sources', value as Source[]);
                }}
              />
              {!price && (
                <Group>
                  <Button
                    type="submit"
                    loading={estimate.isPending}
                    leftSection={<Search size={16} aria-hidden />}
                  >
                    Show the price
                  </Button>
                </Group>
              )}
            </Stack>
          </form>
          {price && (
            <Alert mt="md" title={`This costs ${credits(price.credits)}`} role="status">
              <Stack gap="xs" align="flex-start">
                <Text size="sm">
                  {plural(price.body.sources.length, 'source')} for “{price.body.question}”.{' '}
                  {credits(price.remaining)} remain.
                </Text>
                <Button loading={start.isPending} onClick={() => start.mutate(price)}>
                  Ask now for {credits(price.credits)}
                </Button>
              </Stack>
            </Alert>
          )}
          {refusal && (
            <Alert mt="md" color="red" role="alert">
              {refusal}
            </Alert>
          )}
          {estimate.error && (
            <Problem
              error={estimate.error}
              title="The price could not be computed"
              shownPaths={['question', 'sources']}
            />
          )}
          {start.error && <Problem error={start.error} title="The sources were not asked" />}
        </Section>
      )}
      {runId && <Run id={runId} />}
    </Stack>
  );
}
