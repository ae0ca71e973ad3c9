/**
 * Links of mails and invitations to the pages of the dashboard. Secrets are in the fragment, which browsers do not
 * send: no log and no `Referer` contains them.
 */
export class AccountLinks {
  private readonly base: string;

  /** @param publicUrl `PUBLIC_URL` */
  constructor(publicUrl: string) {
    this.base = publicUrl.replace(/\/+$/, '');
  }

  signIn(): string {
    return `${this.base}/sign-in`;
  }

  signUp(email: string, code: string): string {
    return `${this.base}/sign-up#${new URLSearchParams({ email, code }).toString()}`;
  }

  reset(token: string): string {
    return `${this.base}/reset-password#${new URLSearchParams({ token }).toString()}`;
  }
}
