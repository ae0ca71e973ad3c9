import { Button, Group, Modal, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { changedPart } from '../../parts/changed-part.js';
import { showFaults } from '../../parts/faults.js';
import { notify } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { configOf, KINDS, valuesOf, type Channel, type ChannelValues, type Kind } from './kinds.js';

interface Props {
  /** The channel to change; undefined for a new channel. */
  channel: Channel | undefined;
  onClose: () => void;
}

/** Shows the form that creates or changes a channel. */
export function ChannelForm({ channel, onClose }: Props) {
  const form = useForm<ChannelValues>({ initialValues: valuesOf(channel) });
  const save = useMutation({
    mutationFn: (values: ChannelValues) => {
      const body = bodyOf(values);
      if (!channel) return api.post('/v1/channels', { body: { ...body, kind: values.kind } as never });
      // Another member can have changed the other part since the form was opened.
      const changed = changedPart(bodyOf(form.getInitialValues()), body);
      return api.patch('/v1/channels/{id}', { path: { id: channel.id }, body: changed as never });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/v1/channels'] });
      notify(channel ? 'The channel was changed' : 'The channel was created. Send a test message to it.');
      onClose();
    },
    onError: (error) => showFaults(form, error, fieldOf),
  });
  const { kind } = form.values;
  return (
    <Modal
      opened
      onClose={onClose}
      title={
        channel ? (
          <>
            Change <bdi>{channel.name}</bdi>
          </>
        ) : (
          'Add a channel'
        )
      }
      size="lg"
    >
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <Select
            label="Kind"
            allowDeselect={false}
            disabled={channel !== undefined}
            data={Object.entries(KINDS).map(([value, { name }]) => ({ value, label: name }))}
            {...form.getInputProps('kind')}
          />
          <TextInput
            label="Name"
            required
            maxLength={80}
            placeholder={`${KINDS[kind].name} of the team`}
            data-autofocus
            {...form.getInputProps('name')}
          />
          {kind === 'email' && (
            <TagsInput
              label="Addresses"
              description="At most 10. Earshot first sends each address a mail with a link that confirms the address."
              placeholder="Type an address and press Enter"
              maxTags={10}
              splitChars={[',', ' ', ';']}
              acceptValueOnBlur
              {...form.getInputProps('to')}
            />
          )}
          <Fields kind={kind} form={form} />
          {save.error && (
            <Problem error={save.error} title="The channel was not saved" shownPaths={SHOWN_PATHS} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {channel ? 'Save' : 'Add the channel'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const bodyOf = (values: ChannelValues) => ({ name: values.name, config: configOf(values) });

function Fields({ kind, form }: { kind: Kind; form: ReturnType<typeof useForm<ChannelValues>> }) {
  return KINDS[kind].fields.map(({ key, label, placeholder, description }) => (
    <TextInput
      key={key}
      label={label}
      placeholder={placeholder}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      required
      autoComplete="off"
      {...form.getInputProps(key)}
    />
  ));
}

/**
 * Returns the field of the form for a path of the API: `webhookUrl` for `config.webhook_url`, `to` for `config.to[0]`.
 */
function fieldOf(path: string): string {
  const name = path.replace(/^config\./, '').replace(/\[\d+\]$/, '');
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const SHOWN_PATHS = [
  'name',
  ...['to', 'url', 'webhookUrl', 'webhook_url', 'botToken', 'bot_token', 'chatId', 'chat_id'].map(
    (key) => `config.${key}`,
  ),
];
