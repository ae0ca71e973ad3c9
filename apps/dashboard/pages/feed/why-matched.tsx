import { Accordion, Badge, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import { Check, Minus } from 'lucide-react';
import type { Mention, Why } from '../../api/types.js';
import { plural, words } from '../../parts/format.js';
import { DataTable } from '../../parts/table.js';

const MODES: Readonly<Record<Why['matchMode'], string>> = {
  word: 'as whole words, in upper or lower case',
  contains: 'as a part of the text, in upper or lower case',
  platform: 'by the search of the source itself',
};

/** Shows why a mention is in the feed: terms, mutes, VIPs, rules, the agent step and readings. */
export function WhyMatched({ why, ai }: { why: Why; ai: Mention['ai'] }) {
  const hits = [...why.mutes, ...why.vips].filter(({ hit }) => hit);
  return (
    <div>
      <Title order={3}>Why this mention is here</Title>
      <Stack gap={6} mt={6}>
        <Text size="sm" component="div">
          {why.matchedTerms.length > 0 ? (
            <>
              {why.matchedTerms.map(({ term, field }) => (
                <Badge key={term + field} mr={4} className="foreign">
                  <bdi>{term}</bdi> in the {field}
                </Badge>
              ))}
              matched {MODES[why.matchMode]}.
            </>
          ) : (
            <>It matched {MODES[why.matchMode]}.</>
          )}
        </Text>
        {why.dropped && (
          <Text size="sm">
            It was dropped: <b>{words(why.dropped.reason).toLowerCase()}</b>{' '}
            <span className="foreign">({why.dropped.rule})</span>. The mention is stored.{' '}
            {why.dropped.reason === 'rule'
              ? 'Only a rule can still send it.'
              : 'It is not sent, and its readings are not charged.'}
          </Text>
        )}
        {hits.map(({ detail }, index) => (
          <Text size="sm" key={index} className="foreign">
            {detail}
          </Text>
        ))}
        {why.mutes.length > 0 && hits.length === 0 && (
          <Text size="sm" c="dimmed">
            {why.mutes.length === 1
              ? 'The keyword’s mute did not apply.'
              : `None of the keyword’s ${why.mutes.length} mutes applied.`}
          </Text>
        )}
      </Stack>
      <Accordion
        variant="default"
        mt="xs"
        multiple
        chevronPosition="left"
        styles={{ content: { paddingInline: 0 } }}
      >
        {why.rules.length > 0 && (
          <Part
            name="rules"
            label={`Rules: ${why.rules.filter(({ fired }) => fired).length} of ${why.rules.length} fired`}
          >
            <Rules rules={why.rules} />
          </Part>
        )}
        {ai && (
          <Part name="agent" label={`Agent step: ${ai.status}`}>
            <Code block>{JSON.stringify(ai.output, null, 2)}</Code>
          </Part>
        )}
        <Part name="readings" label={`${plural(why.readings.length, 'reading')}, and where they come from`}>
          <Readings why={why} />
        </Part>
      </Accordion>
    </div>
  );
}

function Part({ name, label, children }: { name: string; label: string; children: React.ReactNode }) {
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>
        <Text size="sm" fw={550}>
          {label}
        </Text>
      </Accordion.Control>
      <Accordion.Panel>{children}</Accordion.Panel>
    </Accordion.Item>
  );
}

function Rules({ rules }: { rules: Why['rules'] }) {
  return (
    <Stack gap="sm">
      {rules.map(({ ruleId, name, fired, clauses, actions }) => (
        <div key={ruleId}>
          <Group gap="xs">
            <Text size="sm" fw={600} className="foreign">
              {name}
            </Text>
            <Badge color={fired ? 'teal' : 'gray'}>
              {fired ? `fired: ${actions.map(words).join(', ')}` : 'did not fire'}
            </Badge>
          </Group>
          {clauses.map(({ field, op, value, seen, holds }, index) => {
            const Icon = holds ? Check : Minus;
            return (
              <Text key={index} size="xs" className="foreign">
                <Icon size={12} aria-label={holds ? 'holds' : 'does not hold'} /> <bdi>{field}</bdi> {op}{' '}
                <bdi>{textOf(value)}</bdi> – the mention has <bdi>{textOf(seen)}</bdi>
              </Text>
            );
          })}
        </div>
      ))}
    </Stack>
  );
}

function Readings({ why }: { why: Why }) {
  return (
    <>
      <DataTable
        label="Readings"
        head={['Reading', 'Result', 'Model', 'Credits']}
        minWidth={420}
        framed={false}
      >
        {why.readings.map((reading, index) => (
          <Table.Tr key={index}>
            <Table.Td>{words(String(reading.kind))}</Table.Td>
            <Table.Td className="foreign">{textOf(reading.result)}</Table.Td>
            <Table.Td className="foreign">
              {[reading.model, reading.version, reading.promptVersion].filter(Boolean).join(' · ')}
            </Table.Td>
            <Table.Td>{reading.costCredits}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <Text size="xs" c="dimmed" mt="xs">
        Event {why.eventIds.join(', ')} · check {why.checkId}
      </Text>
    </>
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
