import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** A field for a new password. The browser checks its length, the API checks the other rules. */
export function NewPasswordField(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      description="At least 10 characters. A few words in a row are easy to remember."
      autoComplete="new-password"
      minLength={10}
      maxLength={200}
      required
      {...props}
    />
  );
}
