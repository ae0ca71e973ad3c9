import { Anchor, Button, Code, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from 'react-router';
import { signUp, signUpOptions } from '../../api/auth.js';
import { showFaults, shownPathsIn } from '../../parts/faults.js';
import { useFragment } from '../../parts/fragment.js';
import { NewPasswordField } from '../../parts/password-field.js';
import { Problem } from '../../parts/problem.js';
import { SignPage } from '../../parts/sign-page.js';

/**
 * Shows the form with which a person creates the first account, joins an account by invitation, or creates an account
 * if sign-up is open.
 */
export function Component() {
  const fragment = useFragment();
  const { data: options } = useQuery(signUpOptions);
  const isInvited = fragment.has('code');
  if (options?.signUp === 'off')
    return (
      <SignPage title="Sign-up is off">
        <Stack>
          <Text size="sm">This installation does not accept new accounts. Ask its operator.</Text>
          <Anchor component={Link} to="/sign-in" size="sm">
            Sign in
          </Anchor>
        </Stack>
      </SignPage>
    );
  const isFirst = options?.isFirst === true;
  return (
    <SignPage
      title={isFirst ? 'Welcome to Earshot' : 'Create an account'}
      lead={
        isFirst ? (
          <>
            The terminal in which Earshot was started shows a line <Code>Sign-up code: XXXX-XXXX</Code>. This
            code makes you the owner of the first account.
          </>
        ) : isInvited ? (
          'You have been invited. Choose a password.'
        ) : options?.signUp === 'open' ? (
          'You get a mail with a link. If you have the code of an invitation, enter it here.'
        ) : (
          'You need an invitation from an owner of an account.'
        )
      }
    >
      <SignUpForm
        email={fragment.get('email') ?? ''}
        code={fragment.get('code') ?? ''}
        isFirst={isFirst}
        isOpen={options?.signUp === 'open'}
      />
    </SignPage>
  );
}

interface FormProps {
  email: string;
  code: string;
  isFirst: boolean;
  /** True if a sign-up without a code is possible. */
  isOpen: boolean;
}

function SignUpForm({ email, code, isFirst, isOpen }: FormProps) {
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email, code, password: '', name: '' } });
  const needsPassword = !isOpen || form.values.code.trim() !== '';
  const signingUp = useMutation({
    mutationFn: () => signUp(bodyOf(form.values, needsPassword)),
    onSuccess: (outcome) => {
      if (typeof outcome !== 'string') void navigate(isFirst ? '/start' : '/feed', { replace: true });
    },
    onError: (error) => showFaults(form, error),
  });
  if (typeof signingUp.data === 'string')
    return (
      <Text size="sm" role="status">
        {signingUp.data}
      </Text>
    );
  return (
    <form onSubmit={form.onSubmit(() => signingUp.mutate())}>
      <Stack>
        <TextInput
          label={isFirst ? 'Sign-up code' : 'Code of the invitation'}
          placeholder={isFirst ? 'XXXX-XXXX' : undefined}
          autoComplete="off"
          required={!isOpen}
          autoFocus={code === ''}
          {...form.getInputProps('code')}
        />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          {...form.getInputProps('email')}
        />
        {needsPassword && <NewPasswordField {...form.getInputProps('password')} />}
        {code === '' && (
          <TextInput
            label="Name of your team (optional)"
            autoComplete="organization"
            maxLength={80}
            {...form.getInputProps('name')}
          />
        )}
        {signingUp.error && <Problem error={signingUp.error} shownPaths={shownPathsIn(form)} />}
        <Button type="submit" loading={signingUp.isPending} fullWidth>
          Create the account
        </Button>
        {!isFirst && (
          <Anchor component={Link} to="/sign-in" size="sm">
            Sign in instead
          </Anchor>
        )}
      </Stack>
    </form>
  );
}

function bodyOf(
  values: { email: string; code: string; password: string; name: string },
  hasPassword: boolean,
) {
  const [email, code, name] = [values.email.trim(), values.code.trim(), values.name.trim()];
  return {
    email,
    ...(hasPassword && { password: values.password }),
    ...(code && { code }),
    ...(name && { name }),
  };
}
