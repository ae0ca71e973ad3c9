import { Badge, Group, Text, UnstyledButton } from '@mantine/core';
import {
  ChevronDown,
  ChevronRight,
  EyeOff,
  Flag,
  MessageSquareReply,
  Star,
  type LucideIcon,
} from 'lucide-react';
import { memo } from 'react';
import type { Label } from '../../api/types.js';
import { words } from '../../parts/format.js';
import { MarkedText, spansOf } from '../../parts/marked-text.js';
import { SentimentBadge } from '../../parts/readings.js';
import { SourceName } from '../../parts/source.js';
import { Time } from '../../parts/time.js';
import classes from './feed.module.css';
import type { FeedMention } from './feed-mention.js';

/** The icon of each label. */
export const LABEL_ICONS: Readonly<Record<Label, LucideIcon>> = {
  to_reply: MessageSquareReply,
  starred: Star,
  flagged: Flag,
  hidden: EyeOff,
};

interface Props {
  mention: FeedMention;
  keywordName: string | undefined;
  isChosen: boolean;
  isInner: boolean;
  isNew: boolean;
  otherCount: number;
  isStoryOpen: boolean;
  onChoose: (mention: FeedMention) => void;
  onToggleStory: (mention: FeedMention) => void;
}

/** One mention of the feed. */
export const MentionRow = memo(function MentionRow(props: Props) {
  const { mention, isChosen, isInner, isNew, onChoose } = props;
  const isHidden = mention.labels.includes('hidden');
  return (
    <div
      className={classes.row}
      data-chosen={isChosen || undefined}
      data-inner={isInner || undefined}
      data-new={isNew || undefined}
      data-faded={isHidden || mention.dropped !== null || undefined}
      onClick={() => onChoose(mention)}
    >
      <RowHead mention={mention} />
      <RowText mention={mention} onChoose={onChoose} />
      <RowFoot {...props} />
    </div>
  );
});

/** A post without a title shows its text in place of the title. */
function RowText({ mention, onChoose }: Pick<Props, 'mention' | 'onChoose'>) {
  const { title, excerpt, matchedTerms } = mention;
  const marked = <MarkedText text={excerpt} spans={spansOf(excerpt, matchedTerms)} />;
  return (
    <>
      <button
        type="button"
        className={classes.title}
        data-untitled={title === '' || undefined}
        data-mention={mention.id}
        onClick={() => onChoose(mention)}
      >
        <span className="foreign" dir="auto">
          {title || (excerpt === '' ? 'Without text' : marked)}
        </span>
      </button>
      {title !== '' && excerpt !== '' && (
        <p className={`${classes.excerpt} foreign`} dir="auto">
          {marked}
        </p>
      )}
    </>
  );
}

function RowHead({ mention }: { mention: FeedMention }) {
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm">
      <Group gap={8} wrap="nowrap" miw={0}>
        <SourceName source={mention.source} size="xs" />
        <Text size="xs" c="dimmed" truncate className="foreign">
          <bdi>{mention.community}</bdi>
          {mention.community && mention.author && ' · '}
          <bdi>{mention.author}</bdi>
        </Text>
        {mention.vip && (
          <Badge size="xs" color="grape">
            VIP
          </Badge>
        )}
      </Group>
      <Group gap={8} wrap="nowrap" className={classes.when}>
        {mention.labels.map((label) => {
          const Icon = LABEL_ICONS[label];
          return <Icon key={label} size={14} aria-label={words(label)} role="img" data-label={label} />;
        })}
        <Time at={mention.publishedAt ?? mention.occurredAt} />
      </Group>
    </Group>
  );
}

function RowFoot({ mention, keywordName, otherCount, isStoryOpen, onToggleStory }: Props) {
  const { analysis, dropped, bucket } = mention;
  const Chevron = isStoryOpen ? ChevronDown : ChevronRight;
  return (
    <Group gap={6} mt={6}>
      {keywordName && (
        <Badge variant="default" maw={180}>
          {keywordName}
        </Badge>
      )}
      {mention.exploreId !== null && <Badge variant="default">From an Explore</Badge>}
      {analysis?.sentiment && <SentimentBadge value={analysis.sentiment} />}
      {analysis?.intent && analysis.intent !== 'other' && (
        <Badge color="indigo">{words(analysis.intent)}</Badge>
      )}
      {bucket && (
        <Badge color="cyan" maw={180} className="foreign">
          {bucket.label}
        </Badge>
      )}
      {dropped && (
        <Badge color="orange" maw={260} className="foreign">
          Dropped: {words(dropped.reason).toLowerCase()} ({dropped.rule})
        </Badge>
      )}
      {mention.backfilled && <Badge color="gray">First scan</Badge>}
      {otherCount > 0 && (
        <UnstyledButton
          className={classes.story}
          aria-expanded={isStoryOpen}
          onClick={(event) => {
            event.stopPropagation();
            onToggleStory(mention);
          }}
        >
          <Chevron size={13} aria-hidden /> {otherCount} more of this story
        </UnstyledButton>
      )}
    </Group>
  );
}
