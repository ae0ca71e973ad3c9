import type { Change, Step } from './keyword-plan.js';

/** A step with the credits per month before and after it. */
export type PricedStep = Step & { before: number; after: number; token?: string };

const MAX_VALUE_LENGTH = 300;

/** Returns the plan as a text for people, with the credits per month. */
export function planText(steps: readonly PricedStep[]): string {
  const lines = steps.flatMap(linesOf);
  const before = sum(steps.map((step) => step.before));
  const after = sum(steps.map((step) => step.after));
  const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
  return [
    ...lines,
    `${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete, ${count('same')} unchanged`,
    `Credits per month: ${before} before, ${after} after`,
    '',
  ].join('\n');
}

function linesOf(step: PricedStep): string[] {
  const price = `${step.before} → ${step.after} credits per month`;
  switch (step.kind) {
    case 'create':
      return [`+ ${step.file.body.name}: create, ${price}`];
    case 'change':
      return [
        `~ ${step.keyword.name}: change, ${price}`,
        ...step.changes.map(changeText),
        ...step.startOver.map((search) => `    starts over: ${search}`),
      ];
    case 'delete':
      return [`- ${step.keyword.name}: delete, ${price}`];
    case 'leave':
      return [`  ${step.keyword.name}: not in the file, stays as it is (--delete deletes it)`];
    case 'same':
      return [];
  }
}

function changeText({ key, before, after }: Change): string {
  return `    ${key}: ${shown(before)} → ${shown(after)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
