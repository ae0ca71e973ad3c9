import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';

const root = fileURLToPath(checkout);
const FILE = /^[\w./-]+\.(ts|tsx|mjs|cjs|json|yaml|yml|conf|sh|md|sql)$/;

/** Returns the rows of the tables in "Where to look" of docs/architecture.md: topic and code. */
function rows(): [topic: string, code: string][] {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const section = page.slice(page.indexOf('## Where to look'), page.indexOf('## Glossary'));
  return [...section.matchAll(/^\| (?!topic)(.+?) \| (.+) \|$/gm)].map(([, topic = '', code = '']) => [
    topic,
    code,
  ]);
}

/**
 * Returns the paths of a row that do not exist. A path starts at the root of the repository, or in the folder of a path
 * before it in the row. Patterns (`<source>`, `*`) and other folders without a root folder are not checked.
 */
function missingIn(code: string): string[] {
  const folders: string[] = [];
  return [...code.matchAll(/`([^` ]+)`/g)].flatMap(([, path = '']) => {
    if (/[<*]/.test(path)) {
      folders.push(dirname(path.replace(/[<*].*/, 'x')));
      return [];
    }
    if (/^(apps|libs|test|deploy|scripts|clients|bench|docs|examples|proto)(\/|$)/.test(path)) {
      if (!existsSync(join(root, path))) return [path];
      folders.push(statSync(join(root, path)).isDirectory() ? path : dirname(path));
      return [];
    }
    return !FILE.test(path) || ['.', ...folders].some((folder) => existsSync(join(root, folder, path)))
      ? []
      : [path];
  });
}

describe('the section “Where to look” in docs/architecture.md', () => {
  it('names only files and folders that exist', () => {
    const missing = rows().flatMap(([topic, code]) => missingIn(code).map((path) => `${topic}: ${path}`));
    expect(missing).toEqual([]);
  });

  it('has each topic only once', () => {
    const topics = rows().map(([topic]) => topic);
    expect(topics.length).toBeGreaterThan(200);
    expect(topics.filter((topic, index) => topics.indexOf(topic) !== index)).toEqual([]);
  });
});
