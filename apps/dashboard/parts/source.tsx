import { Box, Group, Text } from '@mantine/core';
import type { Source } from '../api/types.js';

interface SourceStyle {
  name: string;
  /** Colour of the dot before the name. The page loads no logos from other servers. */
  colour: string;
}

const STYLES: Readonly<Record<Source, SourceStyle>> = {
  x: { name: 'X', colour: '#64748b' },
  reddit: { name: 'Reddit', colour: '#ff4500' },
  youtube: { name: 'YouTube', colour: '#e11d1d' },
  tiktok: { name: 'TikTok', colour: '#14b8a6' },
  bluesky: { name: 'Bluesky', colour: '#0a7aff' },
  hackernews: { name: 'Hacker News', colour: '#f97316' },
  mastodon: { name: 'Mastodon', colour: '#6364ff' },
  lemmy: { name: 'Lemmy', colour: '#16a34a' },
  github: { name: 'GitHub', colour: '#8b5cf6' },
  producthunt: { name: 'Product Hunt', colour: '#da552f' },
  stackoverflow: { name: 'Stack Overflow', colour: '#f48024' },
  rss: { name: 'News and blogs', colour: '#eab308' },
  ai_answers: { name: 'AI answers', colour: '#d946ef' },
  vinted: { name: 'Vinted', colour: '#0d9488' },
};

/** Returns the name of a source for people. */
export const sourceName = (source: Source) => STYLES[source].name;

/** Returns the colour of a source in charts. */
export const sourceColour = (source: Source) => STYLES[source].colour;

/** Shows the name of a source, with its colour. */
export function SourceName({ source, size = 'sm' }: { source: Source; size?: string }) {
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex">
      <Box
        component="span"
        w={8}
        h={8}
        bg={sourceColour(source)}
        style={{ borderRadius: '50%', flex: 'none' }}
      />
      <Text component="span" size={size} style={{ whiteSpace: 'nowrap' }}>
        {sourceName(source)}
      </Text>
    </Group>
  );
}
