import { ActionIcon, Badge, Button, Divider, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ExternalLink, X } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import type { Label, Mention, Why } from '../../api/types.js';
import { beginningOf, isInvisible, isolated, short, words } from '../../parts/format.js';
import { MarkedText, spansOf } from '../../parts/marked-text.js';
import { PostLink, webAddress } from '../../parts/post-link.js';
import { LABELS } from '../../api/values.js';
import { SourceName } from '../../parts/source.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { Time } from '../../parts/time.js';
import { Corrections } from './corrections.js';
import classes from './feed.module.css';
import { feedMention } from './feed-mention.js';
import { toggleOf } from './labels.js';
import { LABEL_ICONS } from './mention-row.js';
import type { useChanges } from './use-changes.js';
import { WhyMatched } from './why-matched.js';

/** Number of characters that are shown before “Show all”. */
const FIRST_CHARACTERS = 2500;

interface Props {
  id: string;
  close: () => void;
  changes: ReturnType<typeof useChanges>;
  keywordNames: ReadonlyMap<string, string>;
}

/** Shows a complete mention: text, labels, readings with corrections, and why the mention matched. */
export default function MentionDetail({ id, close, changes, keywordNames }: Props) {
  const path = { id };
  const mention = useQuery({
    queryKey: ['/v1/mentions', id],
    queryFn: ({ signal }) => api.get('/v1/mentions/{id}', { path, signal }),
  });
  const why = useQuery({
    queryKey: ['/v1/mentions', id, 'why'],
    queryFn: ({ signal }) => api.get('/v1/mentions/{id}/why', { path, signal }),
  });
  return (
    <Stack p="lg" gap="md">
      <Group justify="space-between">
        {mention.data ? <SourceName source={mention.data.source} /> : <span />}
        {/* A `Tooltip` would take the first Esc for itself. */}
        <ActionIcon
          title="Close (Esc)"
          variant="subtle"
          color="gray"
          aria-label="Close the mention"
          onClick={close}
        >
          <X size={18} aria-hidden />
        </ActionIcon>
      </Group>
      <Loaded query={mention} loading={<LoadingRows rows={4} height={72} />}>
        {(found) => (
          <>
            <Head mention={found} keywordName={keywordNames.get(found.keywordId ?? '')} />
            <LabelButtons mention={found} changes={changes} />
            <Body mention={found} why={why.data} />
            <Figures mention={found} />
            <CoBrands brands={found.coBrands} />
            <Divider />
            <Corrections mention={found} changes={changes} />
          </>
        )}
      </Loaded>
      {mention.data && (
        <>
          <Divider />
          <Loaded query={why} loading={<LoadingRows rows={3} height={40} />}>
            {(found) => <WhyMatched why={found} ai={mention.data.ai} />}
          </Loaded>
        </>
      )}
    </Stack>
  );
}

function Head({ mention, keywordName }: { mention: Mention; keywordName: string | undefined }) {
  const { title, author, authorName, authorUrl, community, publishedAt, occurredAt, url } = mention;
  return (
    <div>
      <Title order={2} className="foreign" dir="auto" lineClamp={8}>
        {title && !isInvisible(title) ? title : `${words(mention.kind)} without a title`}
      </Title>
      <Text size="sm" c="dimmed" mt={4} component="div">
        <Group gap={8}>
          {(authorName ?? author) && (
            <PostLink url={authorUrl}>
              <Author name={authorName} handle={author} />
            </PostLink>
          )}
          {mention.vip && <Badge color="grape">VIP</Badge>}
          {community && (
            <Text span inherit className="foreign" lineClamp={2}>
              {community}
            </Text>
          )}
          {keywordName && <Badge variant="default">{keywordName}</Badge>}
        </Group>
        <Group gap="xs" mt={2}>
          {publishedAt && (
            <span>
              Published <Time at={publishedAt} />
            </span>
          )}
          <span>
            Found <Time at={occurredAt} />
          </span>
        </Group>
      </Text>
      {webAddress(url) && (
        <PostLink url={url} className={classes.open}>
          Open the post <ExternalLink size={13} aria-hidden />
        </PostLink>
      )}
    </div>
  );
}

/**
 * Shows the name and the handle of an author. Both are isolated from each other, so that a character in the name cannot
 * change the text direction of the handle. Together they have at most two lines, so that the post stays visible.
 */
function Author({ name, handle }: { name: string | null; handle: string | null }) {
  const isNamed = name !== null && !isInvisible(name);
  return (
    <Text span inherit className="foreign" lineClamp={2}>
      <bdi>{isNamed ? name : handle}</bdi>
      {isNamed && handle && (
        <>
          {' '}
          (<bdi>{handle}</bdi>)
        </>
      )}
    </Text>
  );
}

/** The texts of the buttons that set and remove labels. If a label is set, its button is filled. */
const VERBS: Readonly<Record<Label, string>> = {
  to_reply: 'Reply later',
  starred: 'Star',
  flagged: 'Flag',
  hidden: 'Hide',
};

function LabelButtons({ mention, changes }: { mention: Mention; changes: Props['changes'] }) {
  const canEdit = useCanEdit();
  const row = changes.withChanges(feedMention(mention));
  if (!canEdit) return null;
  return (
    <Group gap={6} role="group" aria-label="Labels">
      {LABELS.map((label) => {
        const Icon = LABEL_ICONS[label];
        const isSet = row.labels.includes(label);
        return (
          <Button
            key={label}
            size="compact-sm"
            variant={isSet ? 'filled' : 'default'}
            aria-pressed={isSet}
            leftSection={<Icon size={14} aria-hidden />}
            onClick={() => changes.change(row, { label: toggleOf(row.labels, label) })}
          >
            {VERBS[label]}
          </Button>
        );
      })}
    </Group>
  );
}

function Body({ mention, why }: { mention: Mention; why: Why | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const { text } = mention;
  const shown = isWhole ? text : beginningOf(text, FIRST_CHARACTERS);
  const matches = why?.matches.filter(({ field }) => field === 'text') ?? [];
  const spans = matches.length > 0 ? matches : spansOf(shown, mention.matchedTerms);
  if (text === '') return null;
  return (
    <div>
      <div
        className={`${classes.body} foreign`}
        dir="auto"
        tabIndex={0}
        role="region"
        aria-label="Text of the mention"
      >
        <MarkedText text={shown} spans={spans} />
        {!isWhole && shown.length < text.length && '…'}
      </div>
      {shown.length < text.length && (
        <Button variant="subtle" size="compact-sm" onClick={() => setWhole(true)}>
          Show all {short(text.length)} characters
        </Button>
      )}
      {mention.truncated && (
        <Text size="xs" c="dimmed" mt={4}>
          Earshot has shortened this post. For example, it keeps at most 64 KiB of a text and 1 KiB of a
          title.
        </Text>
      )}
    </div>
  );
}

function Figures({ mention }: { mention: Mention }) {
  const figures = Object.entries(mention.engagement).filter(([, value]) => value !== null);
  const parts = figures.map(([name, value]) => figureText(name, Number(value)));
  const attached = mention.media.length;
  if (attached > 0)
    parts.push(
      `${attached} ${attached === 1 ? 'attachment or link' : 'attachments or links'}, not shown here`,
    );
  if (parts.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {parts.join(' · ')}
    </Text>
  );
}

/** Shows other brands that the post names. */
function CoBrands({ brands }: { brands: readonly string[] }) {
  if (brands.length === 0) return null;
  return (
    <Text size="sm" c="dimmed" className="foreign">
      Also named: {brands.map((brand) => isolated(brand)).join(', ')}
    </Text>
  );
}

const SINGULARS: Readonly<Record<string, string>> = {
  likes: 'like',
  replies: 'reply',
  shares: 'share',
  views: 'view',
};

/** Returns for example “1 like”, “3 replies” or “score 12”. */
function figureText(name: string, value: number): string {
  if (name === 'score') return `score ${short(value)}`;
  return `${short(value)} ${value === 1 ? (SINGULARS[name] ?? name) : name}`;
}
