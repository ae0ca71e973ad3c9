import type { Browser, Page } from 'playwright-core';
import { simulatedChannels, simulatedLlm } from '../../apps/simulator/index.js';
import { startProgram, until, type Json, type Program } from '#testing';
import { setStage, type Stage } from '../scenario.js';
import { startChromium } from './chromium.js';

/** An installation without any account, and a browser. */
export interface BrowserStage {
  stage: Stage;
  program: Program;
  browser: Browser;
  url: string;
  close(): Promise<void>;
}

/** The owner with whom the tests sign in. */
export const OWNER = { email: 'ada@example.org', password: 'four words in a row' };

/**
 * Starts all services in one process, with simulated sources.
 * @param options `hasModel`: with a language model, which the simulator provides
 */
export async function openBrowserStage({ hasModel = false } = {}): Promise<BrowserStage> {
  const [stage, browser] = await Promise.all([setStage(), startChromium()]);
  const program = await startProgram('earshot', {
    ...stage.env,
    // This is longer than the default, because each query for due searches costs processor time that the
    // browser needs.
    POLL_TICK_MS: '500',
    ...simulatedChannels(stage.simulator),
    ...(hasModel && simulatedLlm(stage.simulator.url)),
  });
  return {
    ...{ stage, program, browser, url: program.url },
    async close() {
      await browser.close();
      await program.stop();
      await stage.close();
    },
  };
}

/** Returns the code that a new installation prints. */
export const signUpCode = (program: Program): Promise<string> =>
  until('the sign-up code is printed', () => /^Sign-up code: (\S+)$/m.exec(program.output())?.[1] ?? false);

/** Signs up as the owner of the first account, on the page. */
export async function signUp(page: Page, { url, program }: BrowserStage): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Sign-up code').fill(await signUpCode(program));
  await page.getByLabel('Email').fill(OWNER.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.waitForURL('**/start');
}

/** Signs up without the page. @returns the session */
export async function signUpThroughApi(page: Page, { url, program }: BrowserStage): Promise<Json> {
  const data = { ...OWNER, code: await signUpCode(program) };
  const answer = await page.request.post(`${url}/v1/auth/sign-up`, { data });
  await page.goto(url);
  return answer.json();
}

/** Calls the API with the session of the page. @throws Error for a status of 400 or more */
export async function call(page: Page, method: string, path: string, data?: object): Promise<Json> {
  const { origin } = new URL(page.url());
  const session = (await (await page.request.get(`${origin}/v1/auth/session`)).json()) as Json;
  const headers = { 'x-csrf-token': session.csrfToken as string };
  const answer = await page.request.fetch(origin + path, { method, headers, ...(data && { data }) });
  const text = await answer.text();
  if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
