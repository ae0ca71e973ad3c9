import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { MailCheck } from 'lucide-react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { signUp } from '../../api/auth.js';
import { showFaults } from '../../parts/faults.js';
import { Problem } from '../../parts/problem.js';
import { SignPage } from '../../parts/sign-page.js';
import { Empty } from '../../parts/states.js';

/** Creates the first account, joins an account by invitation, or signs up where that is open. */
export function Component() {
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const form = useForm({
    initialValues: {
      email: search.get('email') ?? '',
      password: '',
      name: '',
      code: search.get('code') ?? '',
    },
  });
  const entry = useMutation({
    mutationFn: () => {
      const { email, password, name, code } = form.values;
      return signUp({
        email: email.trim(),
        password,
        ...(name.trim() && { name: name.trim() }),
        ...(code.trim() && { code: code.trim() }),
      });
    },
    onSuccess: (outcome) => {
      if (outcome !== 'mailed') void navigate('/start', { replace: true });
    },
    onError: (error) => showFaults(form, error),
  });
  if (entry.data === 'mailed')
    return (
      <SignPage title="Look into your mailbox">
        <Empty icon={MailCheck} title="The next step is in a mail">
          If {form.values.email} can have an account here, a mail with a link is on its way.
        </Empty>
      </SignPage>
    );
  return (
    <SignPage
      title="Create an account"
      lead="A new installation prints its sign-up code in the terminal when it starts. An invitation has its own code."
    >
      <form onSubmit={form.onSubmit(() => entry.mutate())}>
        <Stack>
          <TextInput
            label="Sign-up code"
            placeholder="XXXX-XXXX"
            autoComplete="off"
            autoFocus={!form.values.code}
            {...form.getInputProps('code')}
          />
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            description="At least 10 characters"
            autoComplete="new-password"
            minLength={10}
            maxLength={200}
            required
            {...form.getInputProps('password')}
          />
          <TextInput
            label="Name of your team"
            description="Optional"
            autoComplete="organization"
            maxLength={80}
            {...form.getInputProps('name')}
          />
          {entry.error && <Problem error={entry.error} shownPaths={Object.keys(form.errors)} />}
          <Button type="submit" loading={entry.isPending} fullWidth>
            Create the account
          </Button>
          <Text size="sm">
            <Anchor component={Link} to="/sign-in" size="sm">
              Sign in instead
            </Anchor>
          </Text>
        </Stack>
      </form>
    </SignPage>
  );
}
