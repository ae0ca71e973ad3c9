import { Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Bot } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import type { Keyword } from '../../api/types.js';
import { Page } from '../../parts/page.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded, LoadingRows } from '../../parts/states.js';
import { AnswerTexts } from './answer-texts.js';
import { EngineTable } from './engine-table.js';
import { ownBrandOf, rankOf, type Answer } from './rank.js';

const Chart = lazy(async () => ({ default: (await import('./rank-chart.js')).Component }));
/** Maximum number of answers. A chart with more answers would not be readable. */
const MAX_ANSWERS = 400;

/** Shows what AI engines say about a brand: whether they mention and cite it, its rank, and the text. */
export function Component() {
  const [params, setParams] = useSearchParams();
  const keywords = useQuery({
    queryKey: ['/v1/keywords', 'ai_answers'],
    queryFn: async ({ signal }) => {
      const found: Keyword[] = [];
      for await (const one of api.paginate('/v1/keywords', {
        query: { source: ['ai_answers'], limit: 100 },
        signal,
      }))
        found.push(one as Keyword);
      return found;
    },
  });
  const id = params.get('keyword') ?? keywords.data?.[0]?.id;
  return (
    <Page
      title="AI answers"
      lead="Earshot asks AI engines the same question at each check. This page shows whether they name you, whether they cite you, and what changes."
      actions={
        keywords.data &&
        keywords.data.length > 0 && (
          <Select
            aria-label="Keyword"
            allowDeselect={false}
            data={keywords.data.map((one) => ({ value: one.id, label: one.name }))}
            value={id ?? null}
            onChange={(keyword) => keyword && setParams({ keyword }, { replace: true })}
          />
        )
      }
    >
      <Loaded query={keywords}>
        {(found) =>
          found.length === 0 || !id ? (
            <Empty icon={Bot} title="No keyword asks AI engines">
              Add the source “AI answers” to a keyword, with the question that your customers ask.
            </Empty>
          ) : (
            <Answers key={id} id={id} name={found.find((one) => one.id === id)?.name ?? ''} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Answers({ id, name }: { id: string; name: string }) {
  const [params, setParams] = useSearchParams();
  const query = useQuery({
    queryKey: ['/v1/keywords', id, 'answers'],
    queryFn: async ({ signal }) => {
      const answers: Answer[] = [];
      for await (const answer of api.paginate('/v1/keywords/{id}/answers', {
        path: { id },
        query: { limit: 200 },
        signal,
      })) {
        answers.push(answer);
        if (answers.length >= MAX_ANSWERS) break;
      }
      return answers;
    },
    refetchInterval: 60_000,
  });
  return (
    <Loaded query={query} loading={<LoadingRows rows={3} height={160} />}>
      {(answers) => {
        if (answers.length === 0)
          return (
            <Empty icon={Bot} title="No answers yet">
              The first answers arrive with the first check of the keyword.
            </Empty>
          );
        const brands = [...new Set(answers.flatMap((answer) => answer.brands.map(({ brand }) => brand)))];
        const brand = brands.find((one) => one === params.get('brand')) ?? ownBrandOf(name, brands);
        return (
          <Stack>
            <Section
              title="By engine"
              actions={
                brands.length > 1 && (
                  <Group>
                    <Select
                      size="xs"
                      aria-label="Brand"
                      allowDeselect={false}
                      data={brands}
                      value={brand}
                      onChange={(value) =>
                        value && setParams({ keyword: id, brand: value }, { replace: true })
                      }
                    />
                  </Group>
                )
              }
            >
              <EngineTable answers={answers} brand={brand} />
            </Section>
            <Section
              title="Rank over time"
              lead="The position of the brand among the brands of the search, in the order in which the answer names them. An answer that does not name the brand has no point."
            >
              {answers.every((answer) => rankOf(answer, brand) === null) ? (
                <Text size="sm" c="dimmed">
                  No chart yet, because no answer names {brand}.
                </Text>
              ) : (
                <Suspense fallback={<LoadingRows rows={1} height={220} />}>
                  <Chart answers={answers} brand={brand} />
                </Suspense>
              )}
            </Section>
            <AnswerTexts answers={answers} brands={brands} />
          </Stack>
        );
      }}
    </Loaded>
  );
}
