import { Anchor, Button, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { focusManager, useMutation, useQueryClient } from '@tanstack/react-query';
import { signIn } from '../api/auth.js';
import { Problem } from '../parts/problem.js';

interface Props {
  email: string;
  /** The email address of the member who has signed in with this browser instead. */
  replacedBy: string | undefined;
}

/** Asks for the password in a dialog above the page, so that text that the member has typed is not lost. */
export default function SessionEnded({ email, replacedBy }: Props) {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { password: '' } });
  const signingIn = useMutation({
    mutationFn: () => signIn(email, form.values.password),
    onSuccess: () => {
      // The page possibly could not read data after the session had ended, so it reads the data again.
      focusManager.setFocused(true);
      // A live list continues with its stream. If the list was read again, the visible rows would move.
      return queries.invalidateQueries({
        predicate: ({ meta, state }) => !meta?.isLive || state.status !== 'success',
      });
    },
  });
  return (
    <Modal opened onClose={() => undefined} withCloseButton={false} title="Your session has ended">
      <form onSubmit={form.onSubmit(() => signingIn.mutate())}>
        <Stack>
          {replacedBy !== undefined && (
            <Text size="sm" className="foreign">
              This browser is now signed in as {replacedBy}. This page belongs to {email}.
            </Text>
          )}
          <Text size="sm">
            Sign in again to continue. The text that you typed on this page is still there.
          </Text>
          <PasswordInput
            label={`Password of ${email}`}
            autoComplete="current-password"
            data-autofocus
            required
            {...form.getInputProps('password')}
          />
          {signingIn.error && <Problem error={signingIn.error} />}
          <Button type="submit" loading={signingIn.isPending}>
            Sign in
          </Button>
          <Anchor size="sm" href={replacedBy === undefined ? '/sign-in' : '/feed'} className="foreign">
            {replacedBy === undefined ? 'Sign in as somebody else' : `Continue as ${replacedBy}`}
          </Anchor>
        </Stack>
      </form>
    </Modal>
  );
}
