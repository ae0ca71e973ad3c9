import { Button, Stack } from '@mantine/core';
import { Plus, Workflow } from 'lucide-react';
import { Empty } from '../states.js';
import type { AgentFields } from './clauses.js';
import { RuleCard } from './rule-card.js';
import { newRule, type RuleDraft } from './rule-draft.js';

const MAX_RULES = 20;

interface Props {
  rules: readonly RuleDraft[];
  channels: readonly { id: string; name: string }[];
  /** The fields of the keyword's agent step; undefined if the keyword has none. */
  agentFields: AgentFields | undefined;
  canEdit: boolean;
  /** The fault at a path, such as `rules[0].name`. */
  faultAt: (path: string) => string | undefined;
  /** `changed` is the index of the changed rule; undefined if rules were added, moved or removed. */
  onChange: (rules: RuleDraft[], changed?: number) => void;
}

/** The rules of a keyword in order, with a form for each rule. */
export function RuleList({ rules, channels, agentFields, canEdit, faultAt, onChange }: Props) {
  const move = (index: number, by: number) => {
    const next = [...rules];
    next.splice(index + by, 0, ...next.splice(index, 1));
    onChange(next);
  };
  const add = canEdit && rules.length < MAX_RULES && (
    <Button
      variant="default"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => onChange([...rules, newRule()])}
    >
      Add a rule
    </Button>
  );
  if (rules.length === 0)
    return (
      <Empty icon={Workflow} title="No rules" action={add}>
        Without rules the settings of the keyword alone decide what its webhook and its channels get.
      </Empty>
    );
  return (
    <Stack>
      {rules.map((rule, index) => (
        <RuleCard
          key={rule.key}
          rule={rule}
          index={index}
          isLast={index === rules.length - 1}
          channels={channels}
          agentFields={agentFields}
          faultAt={(path) => faultAt(`rules[${index}].${path}`)}
          onChange={(changed) =>
            onChange(
              rules.map((one, at) => (at === index ? changed : one)),
              index,
            )
          }
          onMove={(by) => move(index, by)}
          onRemove={() => onChange(rules.filter((_, at) => at !== index))}
        />
      ))}
      {add && <div>{add}</div>}
    </Stack>
  );
}
