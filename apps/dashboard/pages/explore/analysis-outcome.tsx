import { Badge, List, Stack, Text, Title } from '@mantine/core';
import type { AnswerOf } from '../../../../clients/typescript/src/index.js';
import type { Mention } from '../../api/types.js';
import { beginningOf, credits, percent, plural } from '../../parts/format.js';
import { PostLink } from '../../parts/post-link.js';
import { Section } from '../../parts/section.js';

/** An analysis, and its mentions by id. */
export interface Analysed {
  result: AnswerOf<'post', '/v1/analyses'>;
  mentions: ReadonlyMap<string, Mention>;
}

/** Shows groups, classes, answers or a summary, each with its mentions. */
export function AnalysisOutcome({ result, mentions }: Analysed) {
  const { groups, labels, outputs, summary, errors, meta } = result;
  const listOf = (ids: readonly string[]) => ids.flatMap((id) => mentions.get(id) ?? []);
  return (
    <Section
      title="Result"
      lead={`${credits(meta.credits_used)} used${errors.length > 0 ? `; ${plural(errors.length, 'mention')} could not be analysed and cost nothing` : ''}.`}
    >
      <Stack>
        {summary?.sentences.map(({ text, mentionIds }) => (
          <div key={text}>
            <Text className="foreign" dir="auto">
              {text}
            </Text>
            <Mentions mentions={listOf(mentionIds)} />
          </div>
        ))}
        {groups?.map(({ key, label, mentionIds }) => (
          <div key={key}>
            <Title order={3} className="foreign">
              <bdi>{label}</bdi> <Badge>{mentionIds.length}</Badge>
            </Title>
            <Mentions mentions={listOf(mentionIds)} />
          </div>
        ))}
        {labels && (
          <List size="sm" spacing={6}>
            {labels.map(({ mentionId, class: name, confidence }) => (
              <List.Item key={mentionId}>
                <Badge mr="xs" className="foreign">
                  <bdi>{name}</bdi>, {percent(confidence)}
                </Badge>
                <Mentions mentions={listOf([mentionId])} isInline />
              </List.Item>
            ))}
          </List>
        )}
        {outputs && (
          <List size="sm" spacing={6}>
            {outputs.map(({ mentionId, output }) => (
              <List.Item key={mentionId}>
                <Mentions mentions={listOf([mentionId])} />
                {Object.entries(output).map(([name, value]) => (
                  <Text key={name} size="sm" className="foreign">
                    <bdi>{name}</bdi>: <bdi>{textOf(value)}</bdi>
                  </Text>
                ))}
              </List.Item>
            ))}
          </List>
        )}
      </Stack>
    </Section>
  );
}

/** Returns the text of a field of an answer. A model can leave a field empty. */
function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
}

function Mentions({ mentions, isInline = false }: { mentions: readonly Mention[]; isInline?: boolean }) {
  const links = mentions.map(({ id, url, title, excerpt }) => (
    // A line of this height can be touched with a finger.
    <Text
      key={id}
      size="sm"
      c="dimmed"
      lh="1.75rem"
      truncate
      className="foreign"
      component={isInline ? 'span' : 'div'}
    >
      <PostLink url={url}>{title ?? beginningOf(excerpt, 120)}</PostLink>
    </Text>
  ));
  return <>{links}</>;
}
