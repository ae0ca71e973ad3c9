import { Alert, Anchor, Button, Chip, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import type { Source, SourceState } from '../../api/types.js';
import { Section } from '../../parts/section.js';
import { sourceName } from '../../parts/source.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { suggestedTerms, type Plan } from './plan.js';

const TagsField = lazy(() => import('./tags-field.js'));

/** Sources that need more criteria than a term. Members add these sources in the editor. */
const NEEDS_MORE: ReadonlySet<Source> = new Set(['ai_answers', 'vinted']);
const LIST_FORMAT = new Intl.ListFormat('en');

/** Shows the brand, its spellings and the sources. */
export function BrandStep({ plan, onDone }: { plan: Plan; onDone: (plan: Plan) => void }) {
  const [draft, setDraft] = useState(plan);
  const [isOwnTerms, setOwnTerms] = useState(plan.terms.length > 0);
  const [isOwnSources, setOwnSources] = useState(plan.sources.length > 0);
  const sources = useQuery({
    queryKey: ['/v1/sources'],
    queryFn: ({ signal }) => api.get('/v1/sources', { signal }),
  });
  const [wasTried, setTried] = useState(false);
  const change = (part: Partial<Plan>) => setDraft((before) => ({ ...before, ...part }));
  const chosen = isOwnSources ? draft.sources : suggestedSources(sources.data?.data ?? []);
  const needsFeeds = chosen.includes('rss') && draft.feedUrls.length === 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (needsFeeds) setTried(true);
        else onDone({ ...draft, sources: chosen });
      }}
    >
      <Section title="What is it called?">
        <Stack>
          <TextInput
            label="Brand, product or topic"
            placeholder="Acme Rocket, or acme.example"
            required
            maxLength={80}
            autoFocus
            value={draft.brand}
            onChange={({ currentTarget: { value } }) =>
              change({ brand: value, ...(!isOwnTerms && { terms: suggestedTerms(value) }) })
            }
          />
          <TermsField
            terms={draft.terms}
            isWanted={draft.brand.trim() !== '' || isOwnTerms}
            onChange={(terms) => {
              setOwnTerms(true);
              change({ terms });
            }}
          />
          <div>
            <Text size="sm" fw={500} mb={4}>
              Sources
            </Text>
            <Loaded query={sources} loading={<LoadingRows rows={1} height={60} />}>
              {({ data }) => (
                <SourceChips
                  sources={data}
                  chosen={chosen}
                  onChange={(next) => {
                    setOwnSources(true);
                    change({ sources: next });
                  }}
                />
              )}
            </Loaded>
          </div>
          {chosen.includes('rss') && (
            <Suspense fallback={<TextInput {...FEEDS} disabled />}>
              <TagsField
                {...FEEDS}
                placeholder={needsFeeds ? 'https://example.com/feed.xml' : undefined}
                // An address can contain a comma.
                splitChars={[' ', '\n']}
                acceptValueOnBlur
                value={draft.feedUrls}
                error={wasTried && needsFeeds && 'Enter at least one feed'}
                onChange={(feedUrls) => change({ feedUrls })}
              />
            </Suspense>
          )}
          {sources.data && chosen.length === 0 && (
            <Alert color="yellow">
              No source is chosen. Hacker News, Mastodon and others need no credentials.
            </Alert>
          )}
          <Group justify="flex-end">
            <Button type="submit" disabled={draft.terms.length === 0 || chosen.length === 0}>
              Continue
            </Button>
          </Group>
        </Stack>
      </Section>
    </form>
  );
}

const FEEDS = {
  label: 'Feeds',
  description: 'Addresses of the news pages and blogs to read. Press Enter or type a space after each.',
};
const TERMS = {
  label: 'Terms',
  description:
    'Suggested spellings. One of them must appear as whole words. Remove terms that are too general. Add nicknames and common misspellings.',
};

interface TermsProps {
  terms: string[];
  /**
   * Whether the field is enabled. True if there is a name from which terms are suggested, or if the member has changed
   * the terms.
   */
  isWanted: boolean;
  onChange: (terms: string[]) => void;
}

/** Shows a disabled field of the same height until the name is typed, so that the page does not move later. */
function TermsField({ terms, isWanted, onChange }: TermsProps) {
  const disabledField = <TextInput {...TERMS} placeholder="Type a name first" disabled />;
  if (!isWanted) return disabledField;
  return (
    <Suspense fallback={disabledField}>
      <TagsField {...TERMS} splitChars={[',', '\n']} value={terms} onChange={onChange} />
    </Suspense>
  );
}

const isReady = ({ configured, enabled }: SourceState) => configured && enabled;

/** Returns every source that is configured and enabled, except the sources of `NEEDS_MORE` and `rss`. */
const suggestedSources = (sources: readonly SourceState[]): Source[] =>
  sources
    .filter((source) => isReady(source) && !NEEDS_MORE.has(source.id) && source.id !== 'rss')
    .map(({ id }) => id);

interface ChipsProps {
  sources: readonly SourceState[];
  chosen: readonly Source[];
  onChange: (chosen: Source[]) => void;
}

function SourceChips({ sources, chosen, onChange }: ChipsProps) {
  return (
    <Stack gap="xs">
      <Group gap={6}>
        {sources
          .filter(({ id }) => !NEEDS_MORE.has(id))
          .map((source) => {
            const isOn = chosen.includes(source.id);
            const chip = (
              <Chip
                key={source.id}
                size="sm"
                checked={isOn}
                disabled={!isReady(source)}
                onChange={() =>
                  onChange(isOn ? chosen.filter((id) => id !== source.id) : [...chosen, source.id])
                }
              >
                <span>{sourceName(source.id)}</span>
                {!isOn && <SourceNeed source={source} />}
              </Chip>
            );
            if (isReady(source)) return chip;
            return (
              <span key={source.id} title={source.reason ?? 'Not configured'}>
                {chip}
              </span>
            );
          })}
      </Group>
      <Text size="sm" c="dimmed">
        {LIST_FORMAT.format([...NEEDS_MORE].map(sourceName))} need more than a term. Choose them in the{' '}
        <Anchor component={Link} to="/keywords/new">
          editor
        </Anchor>
        .
      </Text>
    </Stack>
  );
}

/** Shows, beside the name of a source, why the source is not preselected. */
function SourceNeed({ source }: { source: SourceState }) {
  const need = needOf(source);
  return (
    need && (
      <Text span size="xs" c="dimmed" ml={4}>
        {need}
      </Text>
    )
  );
}

function needOf({ id, configured, enabled }: SourceState): string | undefined {
  if (!configured) return 'needs a credential';
  if (!enabled) return 'switched off';
  return id === 'rss' ? 'needs a feed' : undefined;
}
