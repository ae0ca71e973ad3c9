import { Button, Skeleton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { plural } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import classes from './feed.module.css';
import type { FeedMention } from './feed-mention.js';
import { MentionRow } from './mention-row.js';
import type { FeedLine } from './stories.js';

const ROW_HEIGHT = 122;
/** The next page is read when fewer than this number of loaded rows remain, counted from the last rendered row. */
const ROWS_AHEAD = 30;

interface Props {
  lines: readonly FeedLine[];
  keywordNames: ReadonlyMap<string, string>;
  chosenId: string | undefined;
  newIds: ReadonlySet<string>;
  openStories: ReadonlySet<string>;
  /** Number of new mentions that the list does not show yet. */
  waiting: number;
  hasMore: boolean;
  isLoadingMore: boolean;
  /** Why the next page could not be read; otherwise null. */
  moreError: Error | null;
  withChanges: (mention: FeedMention) => FeedMention;
  onMore: () => void;
  onChoose: (mention: FeedMention) => void;
  onToggleStory: (mention: FeedMention) => void;
  onShowWaiting: () => void;
  /** Called after each scroll. `isAtTop` is true if the beginning of the list is visible. */
  onTop: (isAtTop: boolean) => void;
}

/** Shows the rows of the feed. Only the rows near the visible part are rendered. */
export function MentionList(props: Props) {
  const { lines, chosenId, waiting, hasMore, isLoadingMore, moreError, onMore, onTop, onShowWaiting } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length + (hasMore ? 1 : 0),
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => lines[index]?.mention.id ?? 'more',
    overscan: 6,
  });
  const visible = rows.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    // After a failure the member decides when the page is read again. Otherwise a failing API would get requests
    // without a pause.
    if (hasMore && !isLoadingMore && !moreError && last > lines.length - ROWS_AHEAD) onMore();
  }, [hasMore, isLoadingMore, moreError, last, lines.length, onMore]);
  useScrollToChosen(lines, chosenId, (index) => rows.scrollToIndex(index, { align: 'auto' }));
  return (
    <div className={classes.listPane}>
      {waiting > 0 && (
        <Button
          size="compact-sm"
          radius="xl"
          className={classes.fresh}
          onClick={() => {
            onShowWaiting();
            rows.scrollToIndex(0);
          }}
        >
          {plural(waiting, 'new mention')}
        </Button>
      )}
      <div
        ref={scroll}
        className={classes.scroll}
        tabIndex={0}
        role="feed"
        aria-label="Mentions"
        aria-busy={isLoadingMore}
        onScroll={({ currentTarget }) => onTop(currentTarget.scrollTop < ROW_HEIGHT / 2)}
      >
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {visible.map(({ key, index, start }) => (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              role="article"
              aria-posinset={index + 1}
              aria-setsize={hasMore ? -1 : lines.length}
              style={{ position: 'absolute', top: 0, width: '100%', transform: `translateY(${start}px)` }}
            >
              <Line {...props} line={lines[index]} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function Line({ line, ...props }: Props & { line: FeedLine | undefined }) {
  if (!line) return <LastLine {...props} />;
  const mention = props.withChanges(line.mention);
  return (
    <MentionRow
      mention={mention}
      keywordName={mention.keywordId === null ? undefined : props.keywordNames.get(mention.keywordId)}
      isChosen={props.chosenId === mention.id}
      isInner={line.isInner}
      isNew={props.newIds.has(mention.id)}
      otherCount={line.others.length}
      isStoryOpen={mention.storyId !== null && props.openStories.has(mention.storyId)}
      onChoose={props.onChoose}
      onToggleStory={props.onToggleStory}
    />
  );
}

/** The line below the loaded rows: the next page is loading, or could not be read. */
function LastLine({ isLoadingMore, moreError, onMore }: Props) {
  if (isLoadingMore || !moreError) return <Skeleton height={ROW_HEIGHT - 1} radius={0} />;
  return (
    <div className={classes.state}>
      <Problem error={moreError} title="The next mentions could not be read" retry={onMore} />
    </div>
  );
}

/** Scrolls once to each newly selected mention, as soon as its row is loaded. */
function useScrollToChosen(
  lines: readonly FeedLine[],
  chosenId: string | undefined,
  scrollTo: (index: number) => void,
): void {
  const lastScrolledTo = useRef<string>(undefined);
  useEffect(() => {
    if (chosenId === lastScrolledTo.current) return;
    const index = lines.findIndex(({ mention }) => mention.id === chosenId);
    if (index < 0) return;
    lastScrolledTo.current = chosenId;
    scrollTo(index);
  });
}
