import { Stepper } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Page } from '../../parts/page.js';
import { LoadingRows } from '../../parts/states.js';
import { BrandStep } from './brand-step.js';
import { NO_PLAN, type Plan } from './plan.js';

const PreviewStep = lazy(() => import('./preview-step.js'));
const PriceStep = lazy(() => import('./price-step.js'));
const LiveStep = lazy(() => import('./live-step.js'));
const LOADING = <LoadingRows rows={1} height={320} />;

/** Creates a keyword in four steps: name a brand, see a preview, see the price and start, watch the first results. */
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
          <Suspense fallback={LOADING}>
            <PreviewStep plan={plan} onBack={() => setStep(0)} onDone={() => setStep(2)} />
          </Suspense>
        </Stepper.Step>
        <Stepper.Step label="Price">
          <Suspense fallback={LOADING}>
            <PriceStep
              plan={plan}
              onChange={setPlan}
              onBack={() => setStep(1)}
              onCreated={(id) => {
                setKeywordId(id);
                setStep(3);
              }}
            />
          </Suspense>
        </Stepper.Step>
        <Stepper.Step label="Live">
          <Suspense fallback={LOADING}>{keywordId && <LiveStep keywordId={keywordId} />}</Suspense>
        </Stepper.Step>
      </Stepper>
    </Page>
  );
}
