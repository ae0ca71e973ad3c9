// Lists the tests of each rule of the interface: `npm run -s conformance` writes docs/conformance.md from the titles of
// the tests. `npm run -s conformance:check` fails if the file is out of date. Both commands fail if a rule has no test
// and is not in `later` of test/rules.json, if a test names a rule that does not exist, or if `later` contains a rule
// that has a test or does not exist.
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

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

/** Returns the titles of the tests of each rule. The spec files are parsed and not run, so no stores are needed. */
async function testsByRule() {
  const found = new Map();
  for (const spec of specFiles())
    for (const { titles, ids } of testsOf(ts.createSourceFile(spec, await readFile(root + spec, 'utf8'), 99)))
      for (const id of ids) found.set(id, [...(found.get(id) ?? []), `${spec}: ${titles.join(' › ')}`]);
  return found;
}

/**
 * Returns the paths of specs and of `*-tasks.ts`, whose tests a spec runs on the services that the spec has started.
 */
function specFiles() {
  return ['apps', 'libs', 'test', 'bench'].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true })
      .filter((path) => /(\.spec|-tasks)\.ts$/.test(path))
      .map((path) => `${folder}/${path}`),
  );
}

/** Returns the tests of a file: the titles from the outermost suite to the test, and the rules in these titles. */
function testsOf(source) {
  const tests = [];
  const visit = (node, titles, ids) => {
    const block = ts.isCallExpression(node) ? blockOf(node, source) : undefined;
    if (block) {
      titles = [...titles, block.title];
      ids = [...ids, ...block.ids];
      if (block.kind === 'it') tests.push({ titles, ids });
    }
    ts.forEachChild(node, (child) => visit(child, titles, ids));
  };
  visit(source, [], []);
  return tests;
}

/** Returns the title of `it('title [a.rule, another.rule]', …)` or `describe(…)`; undefined for every other call. */
function blockOf(call, source) {
  const kind = nameOf(call.expression);
  const [title] = call.arguments;
  if (kind !== 'it' && kind !== 'describe') return undefined;
  if (!title || !(ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) return undefined;
  const text = ts.isTemplateExpression(title) ? title.getText(source).slice(1, -1) : title.text;
  const [, words, ids] = /^(.*?)(?: \[([\w-]+\.[\w.-]+(?:, [\w.-]+)*)\])?$/s.exec(text);
  return { kind, title: words, ids: ids?.split(', ') ?? [] };
}

/** Returns `it` for `it`, `it.each(…)` and `(… ? it : it.skip)`. */
function nameOf(node) {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isConditionalExpression(node)) return nameOf(node.whenTrue);
  return node.expression && nameOf(node.expression);
}

function faultsOf(found) {
  const ids = Object.values(rules).flatMap((section) => Object.keys(section));
  return [
    ...ids.filter((id) => !found.has(id) && !later[id]).map((id) => `no test names the rule ${id}`),
    ...[...found.keys()].filter((id) => !ids.includes(id)).map((id) => `there is no rule ${id}`),
    ...Object.keys(later)
      .filter((id) => found.has(id) || !ids.includes(id))
      .map((id) => `${id} has a test or is not a rule: remove it from "later" in test/rules.json`),
  ];
}

function pageOf(found) {
  const sections = Object.entries(rules).map(([section, of]) => {
    const rows = Object.entries(of).map(([id, text]) => {
      const cell = later[id] ? `_${later[id]}_` : (found.get(id) ?? []).toSorted().map(escaped).join('<br>');
      return `| ${id} | ${text.replaceAll('|', '\\|')} | ${cell} |`;
    });
    return [`## ${section}`, '', '| rule | requirement | tests |', '|---|---|---|', ...rows].join('\n');
  });
  return [
    '# Conformance',
    '',
    'Which tests check each rule of the interface specification and of the contract. The rules are in `test/rules.json`. The',
    'title of a test ends with the rules that it checks, and `npm run -s conformance` generates this page from them. To run the',
    'tests of one rule: `npm test -- -t errors.quota`.',
    '',
    ...sections.flatMap((section) => [section, '']),
  ].join('\n');
}

function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_');
}
