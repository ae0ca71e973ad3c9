import { Badge, Button, Group, Loader, Text } from '@mantine/core';
import { SearchX, Telescope } from 'lucide-react';
import { credits, plural } from '../format.js';
import { Problem } from '../problem.js';
import { SourceName, sourceName } from '../source.js';
import { Empty, LoadingRows } from '../states.js';
import { PreviewItems } from './preview-items.js';
import { MAX_TERMS, type PreviewQuestion, type usePreview } from './use-preview.js';

const ANY_OF = new Intl.ListFormat('en', { type: 'disjunction' });

interface Props {
  question: PreviewQuestion;
  preview: ReturnType<typeof usePreview>;
}

/** Shows the price, and then the items of the sources for the question. */
export function Preview({ question, preview }: Props) {
  const { start, run, items } = preview;
  const found = items.data?.data;
  return (
    <>
      {!start.isSuccess && <Offer {...{ question, preview }} />}
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
      {found && run.data?.status === 'failed' && <Empty icon={SearchX} title="No source answered" />}
      {found && run.data?.status !== 'failed' && <PreviewItems mentions={found} terms={question.terms} />}
    </>
  );
}

function Offer({ question, preview: { price, start } }: Props) {
  if (question.sources.length === 0) return null;
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
        {plural(question.sources.length, 'source')}, 2 credits for each source that answers. A source that
        does not answer costs nothing.
      </Empty>
      {start.error && <Problem error={start.error} title="The preview did not begin" />}
    </>
  );
}

/** Returns the terms as a text, such as “Acme”, “AcmeRocket” or “#AcmeRocket”. */
export const askedTerms = ({ terms }: PreviewQuestion): string =>
  ANY_OF.format(terms.slice(0, MAX_TERMS).map((term) => `“${term}”`));
