import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Source } from '../../api/types.js';
import { askedTerms, Preview } from '../../parts/preview/preview.js';
import { usePreview, type PreviewQuestion } from '../../parts/preview/use-preview.js';
import { Section } from '../../parts/section.js';
import { useDraft, type Draft } from './draft.js';

/** Sources that a preview cannot search by words: an AI engine needs a prompt, and a marketplace has listings. */
const NOT_ASKED: ReadonlySet<Source> = new Set(['ai_answers', 'vinted']);

/**
 * Shows the current items of the sources for the terms. Of the criteria of single searches, only the addresses of feeds
 * have an effect.
 */
export function PreviewSection() {
  const { values } = useDraft();
  const [asked, setAsked] = useState<{ question: PreviewQuestion; askCount: number }>();
  const question = questionOf(values);
  const { match, query, terms } = values.globalCriteria;
  // A preview compares terms only as whole words.
  const isPlain = (match ?? 'word') === 'word' && (query.trim() === '' || terms.length === 0);
  const canAsk = isPlain && question.terms.length > 0 && question.sources.length > 0;
  return (
    <Section
      title="Preview"
      lead="Shows what the sources have about the terms now. You see the price first. A preview creates nothing."
    >
      <Stack align="stretch">
        {asked && <Asked key={asked.askCount} question={asked.question} />}
        <div>
          <Button
            variant="default"
            disabled={!canAsk}
            onClick={() => setAsked({ question, askCount: (asked?.askCount ?? 0) + 1 })}
          >
            {asked ? 'Ask for the present terms' : 'Show the price of a preview'}
          </Button>
        </div>
        {!canAsk && (
          <Text size="sm" c="dimmed">
            A preview needs terms that match as whole words, no other required words, and a source that is
            searched by words.
          </Text>
        )}
      </Stack>
    </Section>
  );
}

function Asked({ question }: { question: PreviewQuestion }) {
  const preview = usePreview(question);
  return (
    <>
      <Text size="sm">Each source is asked once for {askedTerms(question)}.</Text>
      <Preview question={question} preview={preview} />
    </>
  );
}

function questionOf({ globalCriteria: { terms, query }, sources }: Draft): PreviewQuestion {
  const enabled = sources.filter(({ enabled: isOn, source }) => isOn && !NOT_ASKED.has(source));
  const feeds = enabled.flatMap(({ searches }) => searches.flatMap(({ overrides }) => feedsOf(overrides)));
  return {
    terms: terms.length > 0 ? terms : [query.trim()].filter((text) => text !== ''),
    // A feed is read by its address, so a preview of feeds is possible only if the keyword contains an address.
    sources: enabled.map(({ source }) => source).filter((source) => source !== 'rss' || feeds.length > 0),
    feedUrls: [...new Set(feeds)],
  };
}

function feedsOf({
  filters,
}: Draft['globalCriteria'] | Draft['sources'][number]['searches'][number]['overrides']) {
  const urls: unknown = filters?.['feed_urls'];
  return Array.isArray(urls) ? urls.filter((url) => typeof url === 'string') : [];
}
