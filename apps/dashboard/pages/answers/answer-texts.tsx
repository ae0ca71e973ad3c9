import { Badge, Group, List, Stack, Switch, Text, Title } from '@mantine/core';
import { diffWords } from 'diff';
import { useState } from 'react';
import { MarkedText, spansOf } from '../../parts/marked-text.js';
import { PostLink } from '../../parts/post-link.js';
import { Section } from '../../parts/section.js';
import { Time } from '../../parts/time.js';
import { ENGINES } from './engine-table.js';
import type { Answer } from './rank.js';

const SHOWN_ANSWERS = 10;
/**
 * Maximum total length of two texts that are compared. Longer texts are not compared, because the time grows with the
 * length of both texts.
 */
const MAX_COMPARED_CHARACTERS = 20_000;

/** Shows the texts of the last answers, newest first, each with its changes compared with the previous answer. */
export function AnswerTexts({ answers, brands }: { answers: readonly Answer[]; brands: readonly string[] }) {
  const [isDiff, setDiff] = useState(true);
  return (
    <Section
      title="Answers"
      actions={
        <Switch
          label="Show what changed"
          checked={isDiff}
          onChange={({ currentTarget }) => setDiff(currentTarget.checked)}
        />
      }
    >
      <Stack>
        {answers.slice(0, SHOWN_ANSWERS).map((answer, index) => (
          <AnswerText
            key={answer.id}
            answer={answer}
            brands={brands}
            before={isDiff ? previousAnswer(answers, index) : undefined}
          />
        ))}
      </Stack>
    </Section>
  );
}

/** Returns the previous answer of the same engine to the same question in the same market. */
function previousAnswer(answers: readonly Answer[], index: number): Answer | undefined {
  const now = answers[index];
  return answers
    .slice(index + 1)
    .find(
      ({ engine, prompt, market }) =>
        engine === now?.engine && prompt === now.prompt && market === now.market,
    );
}

function AnswerText({
  answer,
  before,
  brands,
}: {
  answer: Answer;
  before: Answer | undefined;
  brands: readonly string[];
}) {
  const { engine, prompt, text, citations, answeredAt, model } = answer;
  const canCompare =
    before && before.text !== text && text.length + before.text.length < MAX_COMPARED_CHARACTERS;
  return (
    <article className="card" style={{ padding: '0.9rem 1rem' }}>
      <Group justify="space-between" mb="xs">
        <Title order={3}>{ENGINES[engine]}</Title>
        <Text size="xs" c="dimmed" component="div">
          <bdi className="foreign">{model}</bdi> · <Time at={answeredAt} />
        </Text>
      </Group>
      <Text size="sm" c="dimmed" mb="xs" className="foreign" dir="auto">
        “{prompt}”
      </Text>
      {before && before.text === text && (
        <Badge color="gray" mb="xs">
          Unchanged
        </Badge>
      )}
      <Text size="sm" className="foreign" dir="auto" style={{ whiteSpace: 'pre-wrap' }} component="div">
        {canCompare ? (
          <Changes from={before.text} to={text} />
        ) : (
          <MarkedText text={text} spans={spansOf(text, brands)} />
        )}
      </Text>
      {citations.length > 0 && (
        <List size="sm" mt="sm" spacing={2}>
          {citations.map(({ url, title }) => (
            <List.Item key={url} className="foreign">
              <PostLink url={url}>{title || url}</PostLink>
            </List.Item>
          ))}
        </List>
      )}
    </article>
  );
}

/** Shows new words underlined and removed words crossed out. */
function Changes({ from, to }: { from: string; to: string }) {
  return diffWords(from, to).map(({ value, added, removed }, index) => {
    if (added)
      return (
        <ins key={index} style={{ background: 'var(--mark)', color: 'var(--mark-text)' }}>
          {value}
        </ins>
      );
    return removed ? (
      <del key={index} style={{ opacity: 0.75 }}>
        {value}
      </del>
    ) : (
      <span key={index}>{value}</span>
    );
  });
}
