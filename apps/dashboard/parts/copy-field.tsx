import { ActionIcon, TextInput, Tooltip } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import { Check, Copy } from 'lucide-react';
import { useRef, useState } from 'react';
import { notify } from './notify.js';

/** A text with a button that copies it: a key, a secret, an address. */
export function CopyField({
  label,
  value,
  description,
}: {
  label: string;
  value: string;
  description?: string;
}) {
  const [isCopied, setCopied] = useState(false);
  const reset = useTimeout(() => setCopied(false), 1500);
  const field = useRef<HTMLInputElement>(null);
  const copy = async () => {
    try {
      // Over plain HTTP, `navigator.clipboard` exists only at a loopback address.
      await navigator.clipboard.writeText(value);
      setCopied(true);
      reset.start();
    } catch {
      field.current?.select();
      notify('The browser does not let this page copy. The text is selected: copy it now.');
    }
  };
  return (
    <TextInput
      ref={field}
      label={label}
      description={description}
      value={value}
      readOnly
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8rem' } }}
      onFocus={({ currentTarget }) => currentTarget.select()}
      rightSection={
        <Tooltip label={isCopied ? 'Copied' : 'Copy'}>
          <ActionIcon
            variant="subtle"
            color={isCopied ? 'teal' : 'gray'}
            aria-label="Copy"
            onClick={() => void copy()}
          >
            {isCopied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      }
    />
  );
}
