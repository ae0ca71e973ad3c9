import type { Label } from '../../api/types.js';

/** A label that a member adds or removes. */
export interface LabelChange {
  label: Label;
  isSet: boolean;
}

/** Returns the change that adds the label if it is missing, and otherwise removes it. */
export const toggleOf = (labels: readonly Label[], label: Label): LabelChange => ({
  label,
  isSet: !labels.includes(label),
});

/** Applies the change of one label. The other labels stay. */
export function withLabel(labels: readonly Label[], { label, isSet }: LabelChange): Label[] {
  const others = labels.filter((one) => one !== label);
  return isSet ? [...others, label] : others;
}
