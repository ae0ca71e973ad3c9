import { SecretBox } from './secret-box.js';

const [first, second, third] = ['a1'.repeat(32), 'b2'.repeat(32), 'c3'.repeat(32)] as const;

describe('a secret box', () => {
  it('decrypts with any of its keys, and encrypts with the first key', () => {
    const old = new SecretBox(first).seal('whsec_x');
    const rotating = new SecretBox(`${second},${first}`);
    expect(rotating.open(old)).toBe('whsec_x');
    expect(new SecretBox(second).open(rotating.seal('y'))).toBe('y');
    expect(() => new SecretBox(first).open(rotating.seal('y'))).toThrow();
  });

  it('encrypts with the first key only what an earlier key had encrypted', () => {
    const rotating = new SecretBox(`${second},${first}`);
    const resealed = rotating.reseal(new SecretBox(first).seal('whsec_x'));
    expect(resealed && new SecretBox(second).open(resealed)).toBe('whsec_x');
    expect(rotating.reseal(resealed as Buffer)).toBeUndefined();
  });

  it('does not decrypt text that another key encrypted or that was changed', () => {
    const box = new SecretBox(`${second},${first}`);
    expect(() => box.open(new SecretBox(third).seal('x'))).toThrow();
    expect(() => box.reseal(new SecretBox(third).seal('x'))).toThrow();
    const changed = box.seal('x');
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    expect(() => box.open(changed)).toThrow();
  });
});
