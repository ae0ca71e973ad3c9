import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** A field for a new password. The browser checks only its length. The API checks all rules. */
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
