import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  MultiSelect,
  Paper,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { sourceName } from '../source.js';
import { SOURCES } from '../../api/values.js';
import { words } from '../format.js';
import type { Source } from '../../api/types.js';
import { ClauseFields } from './clause-fields.js';
import { newClause, type AgentFields, type ClauseDraft } from './clauses.js';
import {
  actionCountOf,
  isOffered,
  MAX_ACTIONS,
  MAX_CHANNELS,
  withActions,
  type Action,
  type RuleDraft,
} from './rule-draft.js';
import { WindowFields } from './window-fields.js';

/** The option of `notify` for all channels of the keyword. A rule can also name single channels beside it. */
const KEYWORD_CHANNELS = { value: 'keyword', label: 'All channels of the keyword' };
const NOTIFY_TEXT = 'Notify sends the mention immediately, also to channels that get a digest later.';
/** Says why the form offers no further action. */
const FULL_TEXT = `A rule has at most ${MAX_ACTIONS} actions. Each label counts as one action. Up to ${MAX_CHANNELS} channels together count as one. In addition to other channels, “${KEYWORD_CHANNELS.label}” counts as one more.`;
const LABELS = ['to_reply', 'starred', 'flagged', 'hidden'] as const;

interface Props {
  rule: RuleDraft;
  index: number;
  isLast: boolean;
  channels: readonly { id: string; name: string }[];
  /** The fields of the keyword's agent step; undefined if the keyword has none. */
  agentFields: AgentFields | undefined;
  /** The fault at a path inside the rule: `name`, `when.all[0]`. */
  faultAt: (path: string) => string | undefined;
  onChange: (rule: RuleDraft) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

/** One rule: its condition and its actions. */
export function RuleCard(props: Props) {
  const { rule, index, isLast, channels, agentFields, faultAt, onChange, onMove, onRemove } = props;
  const set = (change: Partial<RuleDraft>) => onChange({ ...rule, ...change });
  return (
    <Paper p="md" bg="var(--surface)" component="section" aria-label={rule.name || `Rule ${index + 1}`}>
      <Stack gap="md">
        <Group align="flex-end" gap="sm">
          <TextInput
            flex={1}
            miw={200}
            label={`Rule ${index + 1}`}
            placeholder="Loud complaints"
            required
            maxLength={60}
            value={rule.name}
            error={faultAt('name')}
            onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          />
          <Select
            w={150}
            label="About"
            allowDeselect={false}
            value={rule.kind}
            data={[
              { value: 'item', label: 'A mention' },
              { value: 'volume', label: 'Volume' },
              { value: 'sentiment_shift', label: 'Sentiment' },
            ]}
            onChange={(kind) => kind && set(kindChange(kind as RuleDraft['kind'], rule))}
          />
          <Select
            w={160}
            label="Source"
            clearable
            placeholder="Every source"
            value={rule.source}
            data={SOURCES.map((value) => ({ value, label: sourceName(value) }))}
            onChange={(source) => set({ source: source as Source | null })}
          />
          <Switch
            mb={8}
            label="On"
            checked={rule.enabled}
            onChange={({ currentTarget }) => set({ enabled: currentTarget.checked })}
          />
          <Group gap={4} mb={4}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Move up"
              disabled={index === 0}
              onClick={() => onMove(-1)}
            >
              <ArrowUp size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Move down"
              disabled={isLast}
              onClick={() => onMove(1)}
            >
              <ArrowDown size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon variant="subtle" color="red" aria-label="Remove the rule" onClick={onRemove}>
              <Trash2 size={16} aria-hidden />
            </ActionIcon>
          </Group>
        </Group>
        {rule.kind === 'item' ? (
          <Clauses
            clauses={rule.clauses}
            agentFields={agentFields}
            faultAt={faultAt}
            onChange={(clauses) => set({ clauses })}
          />
        ) : (
          <WindowFields rule={rule} faultAt={faultAt} set={set} />
        )}
        <Actions rule={rule} channels={channels} error={faultAt('then')} set={set} />
      </Stack>
    </Paper>
  );
}

/** Returns the change for a new kind. Removes `mark` and `stop` if the rule is not about a mention. */
function kindChange(kind: RuleDraft['kind'], { actions }: RuleDraft): Partial<RuleDraft> {
  if (kind === 'item') return { kind };
  const fitting = actions.filter((type) => type === 'notify' || type === 'webhook');
  return { kind, actions: fitting.length > 0 ? fitting : ['notify'] };
}

function Clauses({
  clauses,
  agentFields,
  faultAt,
  onChange,
}: {
  clauses: ClauseDraft[];
  agentFields: AgentFields | undefined;
  faultAt: Props['faultAt'];
  onChange: (clauses: ClauseDraft[]) => void;
}) {
  return (
    <div>
      <Text size="sm" fw={550} mb="xs">
        When all of these are true
      </Text>
      <Stack gap="xs">
        {clauses.map((clause, n) => (
          <ClauseFields
            key={n}
            clause={clause}
            index={n}
            agentFields={agentFields}
            error={faultAt(`when.all[${n}]`)}
            canRemove={clauses.length > 1}
            onChange={(changed) => onChange(clauses.map((one, at) => (at === n ? changed : one)))}
            onRemove={() => onChange(clauses.filter((_, at) => at !== n))}
          />
        ))}
      </Stack>
      <Button
        mt="xs"
        size="compact-sm"
        variant="subtle"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={() => onChange([...clauses, newClause()])}
      >
        Add a clause
      </Button>
    </div>
  );
}

function Actions({
  rule,
  channels,
  error,
  set,
}: {
  rule: RuleDraft;
  channels: Props['channels'];
  error: string | undefined;
  set: (change: Partial<RuleDraft>) => void;
}) {
  const { actions, kind } = rule;
  const notified = [...(rule.alsoKeywordChannels ? [KEYWORD_CHANNELS.value] : []), ...rule.channelIds];
  const fits = (type: Action['type']) => kind === 'item' || type === 'notify' || type === 'webhook';
  const hasRoomFor = (change: Partial<RuleDraft>) => actionCountOf({ ...rule, ...change }) <= MAX_ACTIONS;
  return (
    <Checkbox.Group
      label="Then"
      description={actionCountOf(rule) < MAX_ACTIONS ? NOTIFY_TEXT : `${NOTIFY_TEXT} ${FULL_TEXT}`}
      error={error}
      value={actions}
      onChange={(chosen) => set(withActions(rule, chosen as Action['type'][]))}
    >
      <Group mt="xs" gap="lg" align="center">
        <Group gap="xs">
          <Checkbox value="notify" label="Notify" disabled={!isOffered(rule, 'notify')} />
          {actions.includes('notify') && (
            <MultiSelect
              size="xs"
              miw={200}
              aria-label="Channels to notify"
              placeholder={notified.length === 0 ? KEYWORD_CHANNELS.label : ''}
              data={[
                { ...KEYWORD_CHANNELS, disabled: !hasRoomFor({ alsoKeywordChannels: true }) },
                ...channels.map(({ id, name }) => ({
                  ...{ value: id, label: name },
                  disabled:
                    !rule.channelIds.includes(id) && !hasRoomFor({ channelIds: [...rule.channelIds, id] }),
                })),
              ]}
              value={notified}
              onChange={(chosen) =>
                set({
                  channelIds: chosen.filter((value) => value !== KEYWORD_CHANNELS.value),
                  alsoKeywordChannels: chosen.includes(KEYWORD_CHANNELS.value),
                })
              }
            />
          )}
        </Group>
        <Checkbox value="webhook" label="Send to the webhook" disabled={!isOffered(rule, 'webhook')} />
        {fits('mark') && (
          <Group gap="xs">
            <Checkbox value="mark" label="Label" disabled={!isOffered(rule, 'mark')} />
            {actions.includes('mark') && (
              <MultiSelect
                size="xs"
                miw={150}
                aria-label="Labels to set"
                data={LABELS.map((value) => ({
                  ...{ value, label: words(value) },
                  disabled: !rule.labels.includes(value) && !hasRoomFor({ labels: [...rule.labels, value] }),
                }))}
                value={rule.labels}
                onChange={(labels) => set({ labels: labels as RuleDraft['labels'] })}
              />
            )}
          </Group>
        )}
        {fits('stop') && (
          <Checkbox
            value="stop"
            label="Stop: drop the mention, and check no further rule"
            disabled={!isOffered(rule, 'stop')}
          />
        )}
      </Group>
    </Checkbox.Group>
  );
}
