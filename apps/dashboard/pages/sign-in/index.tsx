import { Anchor, Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, Navigate, useNavigate, useSearchParams } from 'react-router';
import { signIn, signUpOptions } from '../../api/auth.js';
import { Problem } from '../../parts/problem.js';
import { SignPage } from '../../parts/sign-page.js';
import { addressToReturnTo } from './return-address.js';

/** Signs a member in, and returns to the page that required the sign-in. */
export function Component() {
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: search.get('email') ?? '', password: '' } });
  const signingIn = useMutation({
    mutationFn: () => signIn(form.values.email.trim(), form.values.password),
    onSuccess: () => navigate(addressToReturnTo(search.get('to'), location.origin), { replace: true }),
  });
  const options = useQuery(signUpOptions);
  // Nobody can sign in to an installation without an account.
  if (options.data?.isFirst && options.data.signUp !== 'off') return <Navigate to="/sign-up" replace />;
  return (
    <SignPage title="Sign in">
      <form onSubmit={form.onSubmit(() => signingIn.mutate())}>
        <Stack>
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            autoFocus
            required
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          {signingIn.error && <Problem error={signingIn.error} />}
          <Button type="submit" loading={signingIn.isPending} fullWidth>
            Sign in
          </Button>
          <Group justify="space-between">
            <Anchor component={Link} to="/reset-password" size="sm">
              Forgot your password?
            </Anchor>
            {options.data?.signUp !== 'off' && (
              <Anchor component={Link} to="/sign-up" size="sm">
                Create an account
              </Anchor>
            )}
          </Group>
        </Stack>
      </form>
    </SignPage>
  );
}
