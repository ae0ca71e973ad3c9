import { Stack, Stepper } from '@mantine/core';
import { useState } from 'react';
import { Page } from '../../parts/page.js';
import { BrandStep } from './brand-step.js';
import { LiveStep } from './live-step.js';
import { PreviewStep } from './preview-step.js';
import { PriceStep } from './price-step.js';
import { NO_PLAN, type Plan } from './plan.js';

/** The first keyword: name a brand, see what would have been found and what it costs, and go. */
export function Component() {
  const [step, setStep] = useState(0);
  const [plan, setPlan] = useState<Plan>(NO_PLAN);
  const [keywordId, setKeywordId] = useState<string>();
  return (
    <Page
      title="Watch a brand"
      lead="Four steps, about three minutes. Nothing is charged before you have seen the price."
      width="58rem"
    >
      <Stepper
        active={step}
        onStepClick={keywordId === undefined ? setStep : undefined}
        allowNextStepsSelect={false}
        size="sm"
        wrap
      >
        <Stepper.Step label="Name it">
          <BrandStep
            plan={plan}
            onDone={(next) => {
              setPlan(next);
              setStep(1);
            }}
          />
        </Stepper.Step>
        <Stepper.Step label="Preview">
          <PreviewStep plan={plan} onBack={() => setStep(0)} onDone={() => setStep(2)} />
        </Stepper.Step>
        <Stepper.Step label="Price">
          <PriceStep
            plan={plan}
            onChange={setPlan}
            onBack={() => setStep(1)}
            onCreated={(id) => {
              setKeywordId(id);
              setStep(3);
            }}
          />
        </Stepper.Step>
        <Stepper.Step label="Live">
          <Stack>{keywordId && <LiveStep keywordId={keywordId} />}</Stack>
        </Stepper.Step>
      </Stepper>
    </Page>
  );
}
