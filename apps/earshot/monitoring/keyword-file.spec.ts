import { readKeywordFile } from './keyword-file.js';

const entry = (name: string) =>
  `keywords: [{ name: ${name}, refreshIntervalSeconds: 3600, globalCriteria: { market: global }, sources: [] }]`;
const read = (text: string, encoding: BufferEncoding = 'utf8') =>
  readKeywordFile(Buffer.from(text, encoding));

describe('the file of keywords', () => {
  it('can begin with a byte order mark and have Windows line ends', () => {
    expect(read(`\uFEFF# Keywords\r\n${entry('Café')}\r\n`)).toMatchObject([{ body: { name: 'Café' } }]);
  });

  it.each(['latin1', 'utf16le'] as const)(
    'is refused if its encoding is %s, because its texts would change',
    (encoding) => {
      expect(() => read(entry('Café'), encoding)).toThrow('the file is not UTF-8');
    },
  );

  it('is refused if it contains a tag that YAML does not know, because the value would become a plain text', () => {
    expect(() => read(entry('!secret brand'))).toThrow('Unresolved tag: !secret at line 1, column 20');
  });
});
