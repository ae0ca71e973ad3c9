import { Anchor, Button, Code, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { askForReset, confirmReset } from '../../api/auth.js';
import { showFaults } from '../../parts/faults.js';
import { Problem } from '../../parts/problem.js';
import { SignPage } from '../../parts/sign-page.js';

/** Resets a password: asks for the mail, or takes the new password from the mail's link (`?token=`). */
export function Component() {
  const [search] = useSearchParams();
  const token = search.get('token');
  return token ? <NewPassword token={token} /> : <AskForMail />;
}

function AskForMail() {
  const form = useForm({ initialValues: { email: '' } });
  const ask = useMutation({ mutationFn: () => askForReset(form.values.email.trim()) });
  return (
    <SignPage title="Reset your password">
      <form onSubmit={form.onSubmit(() => ask.mutate())}>
        <Stack>
          {ask.isSuccess ? (
            <Text size="sm" role="status">
              If there is an account with this address, a mail with a link is on its way. An installation
              without a mail server sends none: there, the operator runs{' '}
              <Code>npm run -s cli -- members password --email {form.values.email || 'you@example.org'}</Code>
            </Text>
          ) : (
            <>
              <TextInput
                label="E-mail"
                type="email"
                autoComplete="username"
                autoFocus
                required
                {...form.getInputProps('email')}
              />
              {ask.error && <Problem error={ask.error} />}
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
  const navigate = useNavigate();
  const form = useForm({ initialValues: { password: '' } });
  const change = useMutation({
    mutationFn: () => confirmReset(token, form.values.password),
    onSuccess: () => navigate('/sign-in', { replace: true }),
    onError: (error) => showFaults(form, error, (path) => path.replace('new_password', 'password')),
  });
  return (
    <SignPage title="Choose a new password" lead="All sessions that are open now will end.">
      <form onSubmit={form.onSubmit(() => change.mutate())}>
        <Stack>
          <PasswordInput
            label="New password"
            description="At least 10 characters"
            autoComplete="new-password"
            minLength={10}
            maxLength={200}
            autoFocus
            required
            {...form.getInputProps('password')}
          />
          {change.error && <Problem error={change.error} shownPaths={['new_password']} />}
          <Button type="submit" loading={change.isPending} fullWidth>
            Set the password
          </Button>
        </Stack>
      </form>
    </SignPage>
  );
}
