import { Button, Group, Stack } from '@mantine/core';
import { askedTerms, Preview } from '../../parts/preview/preview.js';
import { usePreview } from '../../parts/preview/use-preview.js';
import { Section } from '../../parts/section.js';
import type { Plan } from './plan.js';

interface Props {
  plan: Plan;
  onBack: () => void;
  onDone: () => void;
}

/** Shows recent items of the sources before the keyword is created. */
export default function PreviewStep({ plan, onBack, onDone }: Props) {
  const preview = usePreview(plan);
  const isOver = preview.items.data !== undefined || plan.sources.length === 0;
  return (
    <Section
      title="What would have been found"
      lead={`Each source is asked once for ${askedTerms(plan)}. The preview creates no keyword.`}
    >
      <Stack>
        <Preview question={plan} preview={preview} />
        <Group justify="space-between">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <Button variant={isOver ? 'filled' : 'default'} onClick={onDone}>
            {isOver ? 'Continue' : 'Skip the preview'}
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}
