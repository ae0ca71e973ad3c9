import {
  ActionIcon,
  Button,
  Group,
  NativeSelect,
  NumberInput,
  TagsInput,
  Text,
  TextInput,
  type InputWrapperProps,
} from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { newField, type AnswerField } from './answer-schema.js';

const TYPES = [
  { value: 'string', label: 'text' },
  { value: 'number', label: 'number' },
  { value: 'boolean', label: 'yes or no' },
  { value: 'enum', label: 'one of' },
];
const MAX_FIELDS = 12;

/** The parts of the surrounding form that the fields need. */
interface Form {
  getInputProps: (path: string) => { onChange: (value: unknown) => void; error?: ReactNode };
  insertListItem: (path: string, item: AnswerField) => void;
  removeListItem: (path: string, index: number) => void;
}

/**
 * Shows the form for the fields of a model's answer: name, type, and the settings of the type. `path` is the path of
 * the list in the surrounding form.
 */
export function AnswerFields({
  form,
  path,
  fields,
}: {
  form: Form;
  path: string;
  fields: readonly AnswerField[];
}) {
  return (
    <>
      {fields.map((field, index) => (
        <FieldRow key={index} {...{ form, field, index }} path={path} />
      ))}
      {fields.length < MAX_FIELDS && (
        <div>
          <Button
            size="xs"
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => form.insertListItem(path, newField())}
          >
            Add a field
          </Button>
        </div>
      )}
    </>
  );
}

function FieldRow({
  form,
  path,
  field,
  index,
}: {
  form: Form;
  path: string;
  field: AnswerField;
  index: number;
}) {
  const input = (name: keyof AnswerField) => form.getInputProps(`${path}.${index}.${name}`);
  return (
    <Group align="flex-end" gap="xs" wrap="wrap">
      <TextInput label="Field" w={130} size="xs" {...input('name')} value={field.name} />
      <NativeSelect label="Type" w={110} size="xs" data={TYPES} {...input('type')} value={field.type} />
      {field.type === 'enum' && (
        <TagsInput label="Values" size="xs" miw={160} {...input('values')} value={field.values ?? []} />
      )}
      {field.type === 'string' && (
        <NumberInput
          label="Length at most"
          size="xs"
          w={110}
          min={1}
          {...input('maxLength')}
          value={field.maxLength ?? ''}
        />
      )}
      <TextInput
        label="Description"
        size="xs"
        flex={1}
        miw={140}
        maxLength={200}
        {...input('description')}
        value={field.description ?? ''}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove field ${index + 1}`}
        onClick={() => form.removeListItem(path, index)}
      >
        <Trash2 size={15} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

/** Shows a fault that does not belong to a single input. */
export function FieldFault({ text }: { text: InputWrapperProps['error'] }) {
  return (
    text && (
      <Text size="xs" c="var(--mantine-color-error)">
        {text}
      </Text>
    )
  );
}
