import { Anchor, Button, Code, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'react-router';
import { askForReset, confirmReset } from '../../api/auth.js';
import { showFaults, shownPathsIn } from '../../parts/faults.js';
import { useFragment } from '../../parts/fragment.js';
import { NewPasswordField } from '../../parts/password-field.js';
import { Problem } from '../../parts/problem.js';
import { SignPage } from '../../parts/sign-page.js';

/** Resets a password: asks for the link, or takes the new password with the link's token. */
export function Component() {
  const token = useFragment().get('token');
  return token ? <NewPassword token={token} /> : <AskForLink />;
}

function AskForLink() {
  const form = useForm({ initialValues: { email: '' } });
  const ask = useMutation({
    mutationFn: () => askForReset(form.values.email.trim()),
    onError: (error) => showFaults(form, error),
  });
  return (
    <SignPage title="Reset your password">
      <form onSubmit={form.onSubmit(() => ask.mutate())}>
        <Stack>
          {ask.data ? (
            <div role="status">
              <Text size="sm">{ask.data.message}</Text>
              {ask.data.command && (
                <Code block mt="sm">
                  {ask.data.command}
                </Code>
              )}
            </div>
          ) : (
            <>
              <TextInput
                label="Email"
                type="email"
                autoComplete="username"
                autoFocus
                required
                {...form.getInputProps('email')}
              />
              {ask.error && <Problem error={ask.error} shownPaths={shownPathsIn(form)} />}
              <Button type="submit" loading={ask.isPending} fullWidth>
                Send the link
              </Button>
            </>
          )}
          <Anchor component={Link} to="/sign-in" size="sm">
            Back to the sign-in
          </Anchor>
        </Stack>
      </form>
    </SignPage>
  );
}

function NewPassword({ token }: { token: string }) {
  const form = useForm({ initialValues: { newPassword: '' } });
  const change = useMutation({
    mutationFn: () => confirmReset(token, form.values.newPassword),
    onError: (error) => showFaults(form, error),
  });
  if (change.isSuccess)
    return (
      <SignPage title="Your password is changed">
        <Button component={Link} to="/sign-in" fullWidth>
          Sign in
        </Button>
      </SignPage>
    );
  return (
    <SignPage title="Choose a new password" lead="This ends all sessions that are open now.">
      <form onSubmit={form.onSubmit(() => change.mutate())}>
        <Stack>
          <NewPasswordField label="New password" autoFocus {...form.getInputProps('newPassword')} />
          {change.error && <Problem error={change.error} shownPaths={shownPathsIn(form)} />}
          <Button type="submit" loading={change.isPending} fullWidth>
            Set the password
          </Button>
        </Stack>
      </form>
    </SignPage>
  );
}
