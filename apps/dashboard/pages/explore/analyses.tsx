import { Alert, Button, Group, NumberInput, Select, Stack, TagsInput, Text, Textarea } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Sparkles } from 'lucide-react';
import { api, patientApi } from '../../api/client.js';
import { useKeywordNames } from '../../api/keywords.js';
import { useCanEdit } from '../../api/session.js';
import { AnswerFields, FieldFault } from '../../parts/answer-fields.js';
import { newField, schemaOf, type AnswerField } from '../../parts/answer-schema.js';
import { showFaults } from '../../parts/faults.js';
import { credits, plural } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { AnalysisOutcome, type Analysed } from './analysis-outcome.js';

const OPERATIONS = [
  { value: 'summarise', label: 'Summarise, with citations' },
  { value: 'group', label: 'Group by topic' },
  { value: 'classify', label: 'Classify' },
  { value: 'agent', label: 'Follow an instruction' },
] as const;

interface Values {
  keyword: string;
  operation: (typeof OPERATIONS)[number]['value'];
  instruction: string;
  classes: string[];
  /** The fields of each answer to the instruction. */
  fields: AnswerField[];
  max: number;
}

/** Shows the form that analyses the latest mentions of a keyword. Each analysed mention costs one credit. */
export function Analyses() {
  const canEdit = useCanEdit();
  const names = useKeywordNames();
  const form = useForm<Values>({
    initialValues: {
      ...{ keyword: '', operation: 'summarise', instruction: '', classes: [], max: 50 },
      fields: [newField()],
    },
  });
  const { keyword, max } = form.values;
  const mentions = useQuery({
    queryKey: ['/v1/mentions', 'analyse', keyword, max],
    enabled: keyword !== '',
    queryFn: async ({ signal }) => {
      const { data } = await api.get('/v1/keywords/{id}/results', {
        path: { id: keyword },
        query: { limit: max },
        signal,
      });
      return data;
    },
  });
  const run = useMutation({
    mutationFn: async (values: Values): Promise<Analysed> => {
      const chosen = mentions.data ?? [];
      const result = await patientApi.post('/v1/analyses', {
        body: {
          operation: values.operation,
          mention_ids: chosen.map(({ id }) => id),
          ...operationBody(values),
        },
      });
      return { result, mentions: new Map(chosen.map((mention) => [mention.id, mention])) };
    },
    onError: (error) => showFaults(form, error),
  });
  const number = mentions.data?.length;
  if (!canEdit) return <Text size="sm">Analyses cost credits, so only editors and owners can run them.</Text>;
  return (
    <Stack>
      <Section
        title="Analyse mentions"
        lead="Analyses the latest mentions of a keyword from the last 30 days. Each analysed mention costs one credit."
      >
        <form onSubmit={form.onSubmit((values) => run.mutate(values))}>
          <Stack gap="sm">
            <Group align="flex-end" gap="sm">
              <Select
                label="Keyword"
                required
                searchable
                allowDeselect={false}
                data={[...names].map(([value, label]) => ({ value, label }))}
                {...form.getInputProps('keyword')}
              />
              <Select
                label="What to do"
                allowDeselect={false}
                w={230}
                data={OPERATIONS}
                {...form.getInputProps('operation')}
              />
              <NumberInput label="Maximum number" min={1} max={200} w={150} {...form.getInputProps('max')} />
            </Group>
            <OperationFields form={form} />
            {number !== undefined && (
              <Alert
                role="status"
                title={
                  number === 0
                    ? 'This keyword has no mentions in the last 30 days'
                    : `This costs at most ${credits(number)}`
                }
              >
                {number > 0 &&
                  `${plural(number, 'mention')}, one credit each. A mention that cannot be analysed costs nothing.`}
              </Alert>
            )}
            {run.error && (
              <Problem
                error={run.error}
                title="The mentions were not analysed"
                shownPaths={['operation', 'instruction', 'classes', 'schema']}
              />
            )}
            <Group>
              <Button
                type="submit"
                loading={run.isPending}
                disabled={!number}
                leftSection={<Sparkles size={16} aria-hidden />}
              >
                {number ? `Analyse for ${credits(number)}` : 'Analyse'}
              </Button>
            </Group>
          </Stack>
        </form>
      </Section>
      {run.data && <AnalysisOutcome {...run.data} />}
    </Stack>
  );
}

/** Shows the fields that an operation needs in addition to the mentions. */
function OperationFields({ form }: { form: UseFormReturnType<Values> }) {
  const { operation, fields } = form.values;
  if (operation === 'classify')
    return (
      <TagsInput
        label="Classes"
        description="The names of at least two classes"
        placeholder="Type a class and press Enter"
        {...form.getInputProps('classes')}
      />
    );
  const isAgent = operation === 'agent';
  return (
    <>
      <Textarea
        label="Instruction"
        description={isAgent ? 'A language model follows this instruction for each mention.' : undefined}
        placeholder={isAgent ? 'Which product is it about?' : 'Only what people say about the price'}
        required={isAgent}
        autosize
        maxLength={800}
        {...form.getInputProps('instruction')}
      />
      {isAgent && (
        <>
          <Text size="sm" fw={500}>
            Fields of each answer
          </Text>
          <AnswerFields form={form} path="fields" fields={fields} />
          <FieldFault text={form.errors['schema']} />
        </>
      )}
    </>
  );
}

/** Returns the keys of the body other than the operation and the mentions. */
function operationBody({ operation, instruction, classes, fields }: Values) {
  if (operation === 'classify') return { classes };
  return {
    ...(instruction.trim() && { instruction: instruction.trim() }),
    ...(operation === 'agent' && { schema: schemaOf(fields) }),
  };
}
