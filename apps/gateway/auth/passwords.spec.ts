import { newPasswordFault } from './password-rules.js';
import { Passwords } from './passwords.js';

describe('passwords', () => {
  const passwords = new Passwords();

  it('match only their own hash, and are wrong if there is no hash', async () => {
    const hash = await passwords.hash('four words in a row');
    expect(await passwords.isRight('four words in a row', hash)).toBe(true);
    expect(await passwords.isRight('four words in a roW', hash)).toBe(false);
    expect(await passwords.isRight('nobody', undefined)).toBe(false);
  });

  it('are refused while a hundred others wait to be checked', async () => {
    const all = await Promise.allSettled(
      Array.from({ length: 120 }, () => Promise.resolve().then(() => passwords.isRight('x', undefined))),
    );
    const refused = all.filter((one) => one.status === 'rejected');
    // Two run, and a hundred wait.
    expect(refused.length).toBe(18);
    expect(refused[0]?.reason).toMatchObject({ kind: 'unavailable' });
    expect(await passwords.isRight('x', undefined)).toBe(false);
  });

  it.each([
    ['four words in a row', undefined],
    ['x1'.repeat(100), undefined],
    ['パスワードは長いほうがよい', undefined],
    ['x'.repeat(9), 'must have at least 10 characters'],
    ['\ufb01'.repeat(5), undefined],
    ['basketball', 'is a password that attackers try first'],
  ])('the new password %j has the fault %j (undefined: no fault)', (password, fault) => {
    const found = newPasswordFault(password);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });
});
