import { firstSignUpCode } from '#secrets';
import { Browser } from './browser.js';
import type { InterfaceUnderTest } from './interface-under-test.js';

/** The password of every member. */
export const PASSWORD = 'four words in a row';
/** The first sign-up code. It is derived from the MASTER_KEY of programs under test. */
export const FIRST_CODE = firstSignUpCode('5e'.repeat(32));

/** Signs up the first member of an installation without accounts. */
export async function firstOwner(url: string, email = 'ada@example.org'): Promise<Browser> {
  const owner = new Browser(url);
  const answer = await owner.post('/v1/auth/sign-up', { email, password: PASSWORD, code: FIRST_CODE });
  if (answer.status !== 201) throw new Error(answer.text);
  return owner;
}

/** Invites a person, and signs them up as a member. */
export async function joined(owner: Browser, email: string, role: string): Promise<Browser> {
  const { body } = await owner.post('/v1/invitations', { email, role });
  const member = new Browser(owner.url);
  const answer = await member.post('/v1/auth/sign-up', { email, password: PASSWORD, code: body.code });
  if (answer.status !== 201) throw new Error(answer.text);
  return member;
}

/** Signs in. @throws Error if the sign-in is refused */
export async function signedIn(service: InterfaceUnderTest, email: string, password = PASSWORD) {
  const browser = new Browser(service.url);
  const answer = await browser.post('/v1/auth/sign-in', { email, password });
  if (answer.status !== 200) throw new Error(answer.text);
  return browser;
}

/** Returns the id of the member of a browser. */
export async function memberIdOf(browser: Browser): Promise<string> {
  return (await browser.get('/v1/auth/session')).body.member.id as string;
}
