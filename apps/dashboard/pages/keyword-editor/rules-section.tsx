import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { useChannels } from '../../api/channels.js';
import { useCanEdit } from '../../api/session.js';
import { schemaOf } from '../../parts/answer-schema.js';
import { formPath } from '../../parts/faults.js';
import { faultsOf, faultWithin, type Faults } from '../../parts/rules/rule-faults.js';
import { RuleList } from '../../parts/rules/rule-list.js';
import { Section } from '../../parts/section.js';
import { useDraft } from './draft.js';

/**
 * Shows the rules of the keyword. `wasTried` is true after the first attempt to save. From then on, missing values are
 * marked.
 */
export function RulesSection({ keywordId, wasTried }: { keywordId: string | undefined; wasTried: boolean }) {
  const form = useDraft();
  const channels = useChannels();
  const { rules, aiStep } = form.values;
  const agentFields = aiStep ? schemaOf(aiStep.fields) : undefined;
  const missing: Faults = wasTried ? faultsOf(rules, agentFields) : new Map();
  const refused: Faults = new Map(Object.entries(form.errors).map(([path, text]) => [path, String(text)]));
  return (
    <Section
      title="Rules"
      lead={
        keywordId ? (
          <>
            Rules about a mention run in order on each new mention. The{' '}
            <Anchor component={Link} to={`/keywords/${keywordId}/rules`} underline="always">
              page of the rules
            </Anchor>{' '}
            shows in a backtest how often the rules would have fired.
          </>
        ) : (
          'Rules about a mention run in order on each new mention. A backtest is possible once the keyword exists: it applies the rules to the mentions that the keyword has found.'
        )
      }
    >
      <RuleList
        rules={rules}
        channels={[...(channels?.values() ?? [])]}
        agentFields={agentFields}
        canEdit={useCanEdit()}
        faultAt={(path) => faultWithin(missing, path) ?? faultWithin(refused, formPath(path))}
        onChange={(next) => form.setFieldValue('rules', next)}
      />
    </Section>
  );
}
