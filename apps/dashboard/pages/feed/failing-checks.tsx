import { Alert, Anchor, Group, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import { KeywordState } from '../../parts/keyword-state.js';
import { sourceName } from '../../parts/source.js';
import type { FeedFilters } from './feed-filters.js';
import { troublesOf } from './troubles.js';

/** Maximum number of paused keywords that are named. A change of the plan can pause all keywords of an account. */
const MAX_KEYWORDS = 5;

/**
 * Names the sources that do not work and the paused keywords, so that an outage does not look like a period without
 * mentions. Shows nothing if there are none.
 */
export function FailingChecks({ filters }: { filters: FeedFilters }) {
  const sources = useQuery({
    queryKey: ['/v1/sources'],
    queryFn: ({ signal }) => api.get('/v1/sources', { signal }),
  });
  const paused = useQuery({
    queryKey: ['/v1/keywords', 'paused'],
    queryFn: ({ signal }) => api.get('/v1/keywords', { query: { state: 'paused' }, signal }),
  });
  const found = troublesOf(sources.data?.data ?? [], paused.data?.data ?? [], filters);
  if (found.sources.length === 0 && found.keywords.length === 0) return null;
  return (
    <Alert
      color="orange"
      mb="md"
      icon={<TriangleAlert size={18} aria-hidden />}
      title="Mentions can be missing"
    >
      <List size="sm" spacing={4}>
        {found.sources.length > 0 && (
          <List.Item>
            <Anchor component={Link} to="/sources">
              Checks fail
            </Anchor>{' '}
            on {found.sources.map(sourceName).join(', ')}.
          </List.Item>
        )}
        {found.keywords.slice(0, MAX_KEYWORDS).map((keyword) => (
          <List.Item key={keyword.id}>
            <Group gap={6} component="span">
              <Text span inherit>
                No checks for{' '}
                <Anchor component={Link} to={`/keywords/${keyword.id}`}>
                  {keyword.name}
                </Anchor>
              </Text>
              <KeywordState keyword={keyword} />
            </Group>
          </List.Item>
        ))}
        {found.keywords.length > MAX_KEYWORDS && (
          <List.Item>
            No checks for{' '}
            <Anchor component={Link} to="/keywords">
              more keywords
            </Anchor>
            .
          </List.Item>
        )}
      </List>
    </Alert>
  );
}
