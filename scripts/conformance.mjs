// Which test holds which rule of the interface: `npm run -s conformance` writes docs/conformance.md from the tags of
// the tests, `npm run -s conformance:check` fails when the file is out of date or a rule has no test.
import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}docs/conformance.md`;
const { rules, later } = JSON.parse(await readFile(`${root}test/rules.json`, 'utf8'));

const tests = await testsByRule();
const faults = faultsOf(tests);
const page = pageOf(tests);

if (process.argv.includes('--check')) {
  const written = await readFile(file, 'utf8').catch(() => '');
  if (written !== page) faults.push('docs/conformance.md is out of date: npm run -s conformance writes it');
} else await writeFile(file, page);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Titles of the tests of each tag. Files are parsed, not run: no stores are needed. */
async function testsByRule() {
  const vitest = await createVitest('test', { watch: false, root });
  const found = new Map();
  try {
    const modules = await vitest.experimental_parseSpecifications(await vitest.globTestSpecifications());
    for (const module of modules)
      for (const test of module.children.allTests())
        for (const tag of test.tags) {
          const title = `${relative(root, module.moduleId)}: ${test.fullName.replaceAll(' > ', ' › ')}`;
          found.set(tag, [...(found.get(tag) ?? []), title]);
        }
  } finally {
    await vitest.close();
  }
  return found;
}

function faultsOf(found) {
  const ids = Object.values(rules).flatMap((section) => Object.keys(section));
  return [
    ...ids.filter((id) => !found.has(id) && !later[id]).map((id) => `no test has the tag of the rule ${id}`),
    ...[...found.keys()].filter((tag) => !ids.includes(tag)).map((tag) => `there is no rule ${tag}`),
    ...Object.keys(later)
      .filter((id) => found.has(id) || !ids.includes(id))
      .map((id) => `${id} awaits nothing any more: strike it from test/rules.json`),
  ];
}

function pageOf(found) {
  const sections = Object.entries(rules).map(([section, of]) => {
    const rows = Object.entries(of).map(([id, text]) => {
      const cell = later[id] ? `_${later[id]}_` : (found.get(id) ?? []).toSorted().map(escaped).join('<br>');
      return `| ${id} | ${text.replaceAll('|', '\\|')} | ${cell} |`;
    });
    return [`## ${section}`, '', '| rule | what it demands | tests |', '|---|---|---|', ...rows].join('\n');
  });
  return [
    '# Conformance',
    '',
    'Which tests hold each rule of the interface specification and of the contract. Rules stand in `test/rules.json`; a',
    'test names those that it holds in its `tags`, and this page is made of them by `npm run -s conformance`. One rule’s',
    'tests alone: `npx vitest run --tags-filter=errors.quota`.',
    '',
    ...sections.flatMap((section) => [section, '']),
  ].join('\n');
}

function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_');
}
