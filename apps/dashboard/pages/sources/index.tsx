import { Alert, Badge, Code, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import type { SourceState } from '../../api/types.js';
import { credits, duration } from '../../parts/format.js';
import { Page } from '../../parts/page.js';
import { sourceColour, sourceName } from '../../parts/source.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { Time } from '../../parts/time.js';
import { conditionOf } from './condition.js';

const REFRESH_MS = 30_000;

/** Shows for each source whether it works, and which settings are missing. */
export function Component() {
  const sources = useQuery({
    queryKey: ['/v1/sources'],
    queryFn: ({ signal }) => api.get('/v1/sources', { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page
      title="Sources"
      lead="The platforms that Earshot searches. The operator configures them with environment variables."
    >
      <Loaded query={sources} loading={<LoadingRows rows={6} height={110} />}>
        {({ data }) => (
          <>
            <Summary sources={data} />
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
              {[...data]
                .sort((a, b) => rank(a) - rank(b))
                .map((source) => (
                  <SourceTile key={source.id} source={source} />
                ))}
            </SimpleGrid>
          </>
        )}
      </Loaded>
    </Page>
  );
}

const isReady = ({ configured, enabled }: SourceState) => configured && enabled;

/** Returns the rank of a source in the list: first unhealthy sources, then healthy sources, then the other sources. */
const rank = (source: SourceState) => (isReady(source) ? (source.healthy ? 1 : 0) : 2);

function Summary({ sources }: { sources: readonly SourceState[] }) {
  const broken = sources.filter((source) => isReady(source) && !source.healthy);
  if (broken.length === 0) return null;
  return (
    <Alert color="red" title={`${broken.map(({ id }) => sourceName(id)).join(', ')}: not healthy`}>
      Earshot repeats failed checks. A failed check costs nothing. When a source answers again, Earshot also
      finds the posts that were published in the meantime, as far back as the source shows them.
    </Alert>
  );
}

function SourceTile({ source }: { source: SourceState }) {
  const { id, lastSuccessAt, intervalFloorSeconds, creditsPerCheck, reason, missingSettings, firehose } =
    source;
  const condition = conditionOf(source);
  return (
    <Stack className="card" p="md" gap={6} style={{ borderTop: `3px solid ${sourceColour(id)}` }}>
      <Group justify="space-between">
        <Title order={2} fz="1rem">
          {sourceName(id)}
        </Title>
        <Badge color={condition.colour}>{condition.text}</Badge>
      </Group>
      {isReady(source) && (
        <Text size="sm" c="dimmed" component="div">
          Checked at most every {duration(intervalFloorSeconds)} · {credits(creditsPerCheck)}{' '}
          {id === 'ai_answers' ? 'for each engine' : 'a check'}
          {firehose && ' · reads everything new'}
          {lastSuccessAt && (
            <>
              {' · last success '}
              <Time at={lastSuccessAt} />
            </>
          )}
        </Text>
      )}
      {reason && (
        <Text size="sm" className="foreign">
          {reason}
        </Text>
      )}
      {missingSettings.length > 0 && (
        <Group gap={6}>
          {missingSettings.map((setting) => (
            <Code key={setting}>{setting}</Code>
          ))}
        </Group>
      )}
    </Stack>
  );
}
