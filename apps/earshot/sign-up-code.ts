import { openDatabase } from '#postgres';
import { firstSignUpCode } from '#secrets';

/**
 * Returns the code of the first sign-up; undefined if an account exists, or if sign-up is off.
 * @param env of the running installation, with DATABASE_URL and MASTER_KEY
 */
export async function signUpCode(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.SIGN_UP === 'off') return undefined;
  const database = await openDatabase(env.DATABASE_URL ?? '', 'host', 1);
  try {
    const accounts: unknown[] = await database.query('SELECT 1 FROM accounts LIMIT 1');
    return accounts.length > 0 ? undefined : firstSignUpCode(env.MASTER_KEY ?? '');
  } finally {
    await database.destroy();
  }
}
