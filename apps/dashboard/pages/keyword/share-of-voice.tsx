import { Anchor, Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import type { Keyword } from '../../api/types.js';
import { count, percent } from '../../parts/format.js';
import { Section } from '../../parts/section.js';
import { Loaded, LoadingRows } from '../../parts/states.js';

/**
 * The shares of this keyword and of all keywords of competitors in the mentions of these keywords. Retired keywords of
 * competitors are left out.
 */
export function ShareOfVoice({ keyword, days }: { keyword: Keyword; days: number }) {
  const voices = useQuery({
    queryKey: ['/v1/keywords', keyword.id, 'share-of-voice', days],
    queryFn: ({ signal }) => readVoices(keyword, days, signal),
  });
  return (
    <Section
      title="Share of voice"
      lead="Compares this keyword with the keywords whose subject is a competitor. Set the subject in the editor of a keyword."
    >
      <Loaded query={voices} loading={<LoadingRows rows={2} height={36} />}>
        {(found) => {
          const total = found.reduce((sum, voice) => sum + voice.count, 0);
          if (found.length < 2)
            return (
              <Text size="sm" c="dimmed">
                No keyword of a competitor yet.
              </Text>
            );
          return (
            <Stack gap="sm">
              {found.map(({ id, name, count: n }) => (
                <div key={id}>
                  <Group justify="space-between" wrap="nowrap">
                    <Anchor
                      component={Link}
                      to={`/keywords/${id}`}
                      size="sm"
                      fw={id === keyword.id ? 650 : 450}
                      className="foreign"
                    >
                      {name}
                    </Anchor>
                    <Text size="sm" className="tabular">
                      {total > 0 ? percent(n / total) : '–'} · {count(n)}
                    </Text>
                  </Group>
                  <Progress
                    value={total > 0 ? (100 * n) / total : 0}
                    size={8}
                    color={id === keyword.id ? 'earshot' : 'gray'}
                    aria-hidden
                  />
                </div>
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}

/** The API accepts at most this many values of a filter. */
const KEYWORDS_AT_ONCE = 100;

async function readVoices(keyword: Keyword, days: number, signal: AbortSignal) {
  const others: { id: string; name: string }[] = [];
  for await (const { id, name, subjectRole, state } of api.paginate('/v1/keywords', {
    query: { limit: 200 },
    signal,
  }))
    if (id !== keyword.id && subjectRole === 'competitor' && state !== 'retired') others.push({ id, name });
  const voices = [{ id: keyword.id, name: keyword.name }, ...others];
  const since = new Date(Date.now() - days * 86_400_000).toISOString();
  const counts = new Map<string, number>();
  for (let at = 0; at < voices.length; at += KEYWORDS_AT_ONCE) {
    const ids = voices.slice(at, at + KEYWORDS_AT_ONCE).map(({ id }) => id);
    const query = { keyword: ids, bucket: 'day', group: 'keyword', since } as const;
    const { data } = await api.get('/v1/mentions/series', { query, signal });
    for (const { group, count } of data) if (group) counts.set(group, (counts.get(group) ?? 0) + count);
  }
  return voices
    .map((voice) => ({ ...voice, count: counts.get(voice.id) ?? 0 }))
    .sort((a, b) => b.count - a.count);
}
