import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { useCanEdit } from '../../api/session.js';
import type { Keyword } from '../../api/types.js';
import { changedKeys, changedPart, overwrittenPart } from '../../parts/changed-part.js';
import { notify } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { draftOf, ruleOf, type RuleDraft } from '../../parts/rules/rule-draft.js';
import {
  faultsOf,
  faultsOfRefusal,
  faultWithin,
  shownPathsOf,
  type Faults,
} from '../../parts/rules/rule-faults.js';
import { RuleList } from '../../parts/rules/rule-list.js';
import { Section } from '../../parts/section.js';
import { useUnsavedWarning } from '../../parts/unsaved-warning.js';
import { Backtest } from './backtest.js';

const LEVELS = [
  { value: 'low', label: 'Low: only the strongest spikes' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High: early, with more false alarms' },
];

/** Shows the rules and the spike alert of a keyword, their backtest, and the button that saves them. */
export function RulesForm({
  keyword,
  channels,
  onSaved,
}: {
  keyword: Keyword;
  channels: readonly { id: string; name: string }[];
  onSaved: (keyword: Keyword) => void;
}) {
  const canEdit = useCanEdit();
  const [rules, setRules] = useState<RuleDraft[]>(() => keyword.rules.map(draftOf));
  const [spikeAlert, setSpikeAlert] = useState(keyword.spikeAlert);
  const [wasTried, setTried] = useState(false);
  const [refused, setRefused] = useState<Faults>(new Map());
  const agentFields = keyword.aiStep?.schema;
  const missing = faultsOf(rules, agentFields);
  // A fault that the form found is shown until the member corrects the field. A fault from the API is shown until the
  // member changes the rule.
  const faults: Faults = new Map([...refused, ...(wasTried ? missing : [])]);
  const refuse = (error: unknown) => setRefused(faultsOfRefusal(error));
  const draft = () => ({ rules: rules.map((rule) => ruleOf(rule, agentFields)), spikeAlert });
  const alertsOf = (found: Keyword) => ({
    rules: found.rules.map((rule) => ruleOf(draftOf(rule), agentFields)),
    spikeAlert: found.spikeAlert,
  });
  const [before, setBefore] = useState(() => alertsOf(keyword));
  const isChanged = changedKeys(before, draft()).length > 0;
  useUnsavedWarning(() => isChanged);
  const isComplete = () => {
    setTried(true);
    return missing.size === 0;
  };
  const save = useMutation({
    mutationFn: async () => {
      const path = { id: keyword.id };
      // The API replaces the whole list, and another member can have changed it since the page was loaded.
      const present = alertsOf(await api.get('/v1/keywords/{id}', { path }));
      const overwritten = overwrittenPart(before, draft(), present);
      if (Object.keys(overwritten).length > 0) {
        setBefore({ ...before, ...overwritten });
        throw new Error(
          'Another member has changed the same part meanwhile. Open this page in another tab to see the change. Save again to replace it with yours.',
        );
      }
      return api.patch('/v1/keywords/{id}', { path, body: changedPart(before, draft()) as never });
    },
    onSuccess: async (answer) => {
      notify('The rules were saved');
      onSaved(answer);
      await queries.invalidateQueries({ queryKey: ['/v1/keywords'] });
    },
    onError: refuse,
  });
  const change = (next: RuleDraft[], changed?: number) => {
    // The refusal of the API names rules by their position. After a rule is added, moved or removed, the positions are wrong.
    const isKept = (path: string) => changed !== undefined && !path.startsWith(`rules[${changed}]`);
    setRefused(new Map([...refused].filter(([path]) => isKept(path))));
    setRules(next);
  };
  return (
    // A text that is typed while the save is running would be replaced by the saved one.
    <fieldset disabled={save.isPending} style={{ margin: 0, padding: 0, border: 0, minWidth: 0 }}>
      <Stack>
        <RuleList
          {...{ rules, channels, agentFields, canEdit }}
          faultAt={(path) => faultWithin(faults, path)}
          onChange={change}
        />
        <Section
          title="Spike alert"
          lead="Fires if an hour has unusually many mentions, compared with the same hour of earlier weeks. Until the keyword has 14 days of history, the hour is compared with the last 7 days. The alert needs 24 hours of history."
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
        <Backtest keywordId={keyword.id} draft={draft} isComplete={isComplete} onError={refuse} />
        {Boolean(save.error) && (
          <Problem
            error={save.error}
            title="The rules were not saved"
            shownPaths={shownPathsOf(save.error)}
          />
        )}
        {wasTried && missing.size > 0 && (
          <Text size="sm" c="var(--mantine-color-error)" ta="right" role="alert">
            Correct the marked fields.
          </Text>
        )}
        {canEdit && (
          <Group justify="flex-end">
            <Button
              disabled={!isChanged}
              loading={save.isPending}
              onClick={() => isComplete() && save.mutate()}
            >
              Save the rules
            </Button>
          </Group>
        )}
      </Stack>
    </fieldset>
  );
}
