import { Button, Group, Select, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Plus, Workflow } from 'lucide-react';
import { useState } from 'react';
import { api, EarshotError } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { useCanEdit } from '../../api/session.js';
import type { Keyword } from '../../api/types.js';
import { notify } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { Empty } from '../../parts/states.js';
import { Backtest } from './backtest.js';
import { draftOf, newRule, ruleOf, type RuleDraft } from './clauses.js';
import { RuleCard } from './rule-card.js';

const LEVELS = [
  { value: 'low', label: 'Low: only the strongest spikes' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High: early, with more false alarms' },
];

/** The rules and the spike alert of a keyword, their backtest, and the button that saves them. */
export function RulesForm({
  keyword,
  channels,
}: {
  keyword: Keyword;
  channels: readonly { id: string; name: string }[];
}) {
  const canEdit = useCanEdit();
  const [rules, setRules] = useState<RuleDraft[]>(() => keyword.rules.map(draftOf));
  const [spikeAlert, setSpikeAlert] = useState(keyword.spikeAlert);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const refuse = (error: unknown) =>
    setFaults(
      new Map(
        error instanceof EarshotError ? error.details.map(({ path, message }) => [camel(path), message]) : [],
      ),
    );
  const draft = () => ({ rules: rules.map(ruleOf), spikeAlert });
  const save = useMutation({
    mutationFn: () => api.patch('/v1/keywords/{id}', { path: { id: keyword.id }, body: draft() as never }),
    onSuccess: async () => {
      setFaults(new Map());
      notify('The rules were saved');
      await queries.invalidateQueries({ queryKey: ['/v1/keywords', keyword.id] });
    },
    onError: refuse,
  });
  const change = (index: number, rule: RuleDraft) => {
    setFaults(new Map());
    setRules(rules.map((one, at) => (at === index ? rule : one)));
  };
  const move = (index: number, by: number) => {
    const next = [...rules];
    next.splice(index + by, 0, ...next.splice(index, 1));
    setRules(next);
  };
  const add = canEdit && (
    <Button
      variant="default"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setRules([...rules, newRule()])}
    >
      Add a rule
    </Button>
  );
  return (
    <Stack>
      {rules.length === 0 ? (
        <Empty icon={Workflow} title="No rules" action={add}>
          Without rules each mention goes to the webhook and the channels of the keyword.
        </Empty>
      ) : (
        rules.map((rule, index) => (
          <RuleCard
            key={rule.key}
            rule={rule}
            index={index}
            isLast={index === rules.length - 1}
            channels={channels}
            faultAt={(path) => faults.get(`rules[${index}].${path}`)}
            onChange={(changed) => change(index, changed)}
            onMove={(by) => move(index, by)}
            onRemove={() => setRules(rules.filter((_, at) => at !== index))}
          />
        ))
      )}
      {rules.length > 0 && <div>{add}</div>}
      <Section
        title="Spike alert"
        lead="Alerts when an hour has unusually many mentions for its hour of the week. It waits for 24 hours of history."
      >
        <Select
          aria-label="Spike alert"
          maw={320}
          clearable
          placeholder="Off"
          data={LEVELS}
          value={spikeAlert}
          onChange={(level) => setSpikeAlert(level as typeof spikeAlert)}
          disabled={!canEdit}
        />
      </Section>
      <Backtest keywordId={keyword.id} draft={draft} onError={refuse} />
      {Boolean(save.error) && <Problem error={save.error} title="The rules were not saved" />}
      {canEdit && (
        <Group justify="flex-end">
          <Button loading={save.isPending} onClick={() => save.mutate()}>
            Save the rules
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const camel = (path: string) => path.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
