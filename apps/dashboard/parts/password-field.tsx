import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** A password that is chosen: its length is checked by the browser, the rest by the API. */
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
