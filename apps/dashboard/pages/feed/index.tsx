import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useRef, useState, type RefObject } from 'react';
import { useSearchParams } from 'react-router';
import { useKeywordNames } from '../../api/keywords.js';
import classes from './feed.module.css';
import { FeedBar } from './feed-bar.js';
import { FeedState } from './feed-state.js';
import { MentionList } from './mention-list.js';
import { useChanges } from './use-changes.js';
import { useFeed } from './use-feed.js';
import { useFeedFilters } from './use-feed-filters.js';
import { focusRow, useFeedKeys } from './use-feed-keys.js';

const DetailDrawer = lazy(() => import('./detail-drawer.js'));
const MentionDetail = lazy(() => import('./mention-detail.js'));

/** Shows the mentions of the account that match the filters. New mentions appear without a reload. */
export function Component() {
  const { filters, address, change } = useFeedFilters();
  const [agreedTo, setAgreedTo] = useState('');
  const feed = useFeed(filters, address, agreedTo === address);
  const changes = useChanges();
  const { chosenId, choose } = useChosen();
  const keywordNames = useKeywordNames();
  const search = useRef<HTMLInputElement>(null);
  const isWide = useMediaQuery('(min-width: 64em)', true, { getInitialValueInEffect: false });
  const isCovered = !isWide && chosenId !== undefined;
  const pane = useRef<HTMLElement>(null);
  const close = () => {
    if (chosenId === undefined) return;
    choose(undefined);
    // A drawer returns the focus itself.
    if (isWide) focusRow(chosenId);
  };
  useFeedKeys({ lines: feed.lines, chosenId, choose, close, changes, search, pane, isCovered });
  useEffect(() => {
    document.title = 'Feed · Earshot';
  }, []);
  const { lines, read } = feed;
  return (
    <div className={classes.page}>
      <FeedBar {...{ filters, address, change, feed, keywordNames, search }} onAgree={setAgreedTo} />
      <div className={classes.panes}>
        {lines.length > 0 ? (
          <MentionList
            {...{ lines, keywordNames, chosenId }}
            newIds={feed.newIds}
            openStories={feed.openStories}
            waiting={feed.waiting}
            hasMore={read.hasNextPage}
            isLoadingMore={read.isFetchingNextPage}
            moreError={read.isFetchNextPageError ? read.error : null}
            withChanges={changes.withChanges}
            onMore={() => void read.fetchNextPage()}
            onChoose={({ id }) => choose(id)}
            onToggleStory={feed.toggleStory}
            onShowWaiting={feed.showWaiting}
            onTop={feed.setAtTop}
          />
        ) : (
          <FeedState {...{ filters, feed }} onAgree={() => setAgreedTo(address)} onReset={change} />
        )}
        <DetailPane {...{ chosenId, isWide, pane, close, changes, keywordNames }} />
      </div>
    </div>
  );
}

interface DetailProps {
  chosenId: string | undefined;
  isWide: boolean;
  pane: RefObject<HTMLElement | null>;
  close: () => void;
  changes: ReturnType<typeof useChanges>;
  keywordNames: ReadonlyMap<string, string>;
}

/** Shows the mention beside the list if there is room, otherwise in front of the list. */
function DetailPane({ chosenId, isWide, pane, close, ...rest }: DetailProps) {
  const detail = chosenId && (
    <Suspense>
      <MentionDetail key={chosenId} id={chosenId} close={close} {...rest} />
    </Suspense>
  );
  if (isWide)
    return detail ? (
      <section ref={pane} tabIndex={-1} className={classes.detailPane} aria-label="Mention">
        {detail}
      </section>
    ) : null;
  return (
    <Suspense>
      <DetailDrawer isOpen={chosenId !== undefined} close={close}>
        {detail}
      </DetailDrawer>
    </Suspense>
  );
}

/**
 * Returns the id of the open mention, and the function that opens another mention. The id is in the address, so that a
 * link to the mention can be shared.
 */
function useChosen() {
  const [params, setParams] = useSearchParams();
  const chosenId = params.get('mention') ?? undefined;
  const choose = (id: string | undefined) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (id === undefined) next.delete('mention');
        else next.set('mention', id);
        return next;
      },
      // The update is synchronous, so that the next key applies to the newly selected mention even if it is pressed
      // immediately.
      { replace: chosenId !== undefined, flushSync: true },
    );
  return { chosenId, choose };
}
