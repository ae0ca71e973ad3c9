import { Badge, Button, Group, Loader, Stack, Text } from '@mantine/core';
import { Telescope } from 'lucide-react';
import { credits, plural } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { SourceName, sourceName } from '../../parts/source.js';
import { Empty, LoadingRows } from '../../parts/states.js';
import type { Plan } from './plan.js';
import { PreviewItems } from './preview-items.js';
import { MOST_TERMS, usePreview } from './use-preview.js';

const ANY_OF = new Intl.ListFormat('en', { type: 'disjunction' });

interface Props {
  plan: Plan;
  onBack: () => void;
  onDone: () => void;
}

/** What the sources have said lately, before anything is created. */
export default function PreviewStep({ plan, onBack, onDone }: Props) {
  const preview = usePreview(plan);
  const { start, run, items } = preview;
  const found = items.data?.data;
  return (
    <Section
      title="What would have been found"
      lead={`Each source is asked once for ${askedTerms(plan)}. It creates no keyword.`}
    >
      <Stack>
        {!start.isSuccess && <Offer preview={preview} />}
        {run.error && <Problem error={run.error} retry={() => void run.refetch()} />}
        {run.data && (
          <Group gap="xs" role="status">
            {run.data.sources.map(({ source, status, items: n, error }) => (
              <Badge key={source} size="lg" variant="default" title={error ?? undefined}>
                <Group gap={6} wrap="nowrap">
                  <SourceName source={source} size="xs" />
                  {status === 'done' ? (
                    n
                  ) : status === 'failed' ? (
                    'failed'
                  ) : (
                    <Loader size={10} aria-label={status} />
                  )}
                </Group>
              </Badge>
            ))}
          </Group>
        )}
        {run.data?.sources.map(
          ({ source, error }) =>
            error && (
              <Text key={source} size="sm" c="dimmed" className="foreign">
                {sourceName(source)} did not answer, and cost nothing: {error}
              </Text>
            ),
        )}
        {run.data?.sources.map(
          ({ source, warning }) =>
            warning && (
              <Text key={source} size="sm" c="dimmed" className="foreign">
                {sourceName(source)}: {warning}
              </Text>
            ),
        )}
        {start.isSuccess && !found && !items.error && <LoadingRows rows={4} height={76} />}
        {items.error && <Problem error={items.error} retry={() => void items.refetch()} />}
        {found && <PreviewItems mentions={found} terms={plan.terms} />}
        <Group justify="space-between">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <Button variant={found || preview.asked.length === 0 ? 'filled' : 'default'} onClick={onDone}>
            {found || preview.asked.length === 0 ? 'Continue' : 'Skip the preview'}
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}

function Offer({ preview: { price, start, asked } }: { preview: ReturnType<typeof usePreview> }) {
  if (asked.length === 0) return null;
  if (price.error) return <Problem error={price.error} retry={() => void price.refetch()} />;
  if (!price.data) return <LoadingRows rows={1} height={200} />;
  if (!price.data.valid)
    return <Problem error={new Error(price.data.refusal.message)} title="The preview is not possible" />;
  const { credits: cost } = price.data.estimate;
  return (
    <>
      <Empty
        icon={Telescope}
        title={`The preview costs ${credits(cost)}`}
        action={
          <Button loading={start.isPending} onClick={() => start.mutate()}>
            Show me, for {credits(cost)}
          </Button>
        }
      >
        {plural(asked.length, 'source')}, 2 credits for each that answers. What does not answer costs nothing.
      </Empty>
      {start.error && <Problem error={start.error} title="The preview did not begin" />}
    </>
  );
}

/** “Acme”, “AcmeRocket” or “#AcmeRocket” */
function askedTerms({ brand, terms }: Plan): string {
  const asked = terms.length > 0 ? terms.slice(0, MOST_TERMS) : [brand];
  return ANY_OF.format(asked.map((term) => `“${term}”`));
}
