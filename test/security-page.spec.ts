import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';

const root = fileURLToPath(checkout);
const rows = readFileSync(`${root}docs/security.md`, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'));

const TESTS = String.raw`[\w./-]+(?:\.spec|-tasks)\.ts`;

/** The test files that the rows name, each with the test titles that follow its name in the row. */
const named = rows.flatMap((row) =>
  [...row.matchAll(new RegExp(`\`(${TESTS})\`((?:(?:,| and)? "[^"]+")*)`, 'g'))].map(
    ([, file = '', titles = '']) => ({
      file,
      titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, one = '']) => one),
    }),
  ),
);

it('docs/security.md names only existing specs and tests', () => {
  const missing = named.filter(({ file, titles }) => {
    if (!existsSync(root + file)) return true;
    const text = readFileSync(root + file, 'utf8');
    return titles.some((title) => !text.includes(title));
  });
  expect(named.length).toBeGreaterThan(50);
  expect(missing).toEqual([]);
});

it('docs/security.md names a test in every row that claims a protection', () => {
  const claims = rows.filter(
    (row) => row.split('|').length === 5 && !/^\|(-|\s*(threat|risk|chapter|who) )/.test(row),
  );
  const unproven = claims.filter(
    (row) => !new RegExp(`${TESTS}\``).test(row) && !row.includes(' must not get '),
  );
  // The rows of the threat model claim no protection.
  const model = unproven.filter((row) => /^\| (a|an) /.test(row));
  expect(unproven.length - model.length).toBe(0);
});
