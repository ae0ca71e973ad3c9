import { addressesIn } from './addresses.js';

describe('addresses', () => {
  const cases: [string, string[]][] = [
    ['see https://acme.example/a?b=c#d now', ['https://acme.example/a?b=c#d']],
    [
      'ftp://files.acme.example and HTTP://localhost:80/x',
      ['ftp://files.acme.example', 'HTTP://localhost:80/x'],
    ],
    ['(https://acme.example/a_(b)) end', ['https://acme.example/a_(b)']],
    ['[Acme](https://acme.com)', ['https://acme.com']],
    ['<https://acme.com>acme', ['https://acme.com']],
    ['www.acme.museum, ok', ['www.acme.museum,']],
    ['acme.com, acme.co.uk. ACME.DE', ['acme.com', 'acme.co.uk', 'ACME.DE']],
    ['acme.com/rocket and acme.com:8080', ['acme.com/rocket', 'acme.com:8080']],
    ['acme.it/rocket, but acme.it alone may be a sentence', ['acme.it/rocket,']],
    ['node.js, e.g. v1.2, U.S. and readme.md', []],
    ['bob.b+x@acme.co.uk!', ['bob.b+x@acme.co.uk']],
    ['@acme.com @acme@social.dev bob@acme', ['social.dev']],
    ['公式サイトはacme.jpです', ['acme.jp']],
    ['https://acme.comはよい', ['https://acme.com']],
    ['https://münchen.de/straße', ['https://münchen.de/straße']],
    ['no address... at all :// here.', []],
    ['on acme.com—acme is good', ['acme.com']],
  ];

  it.each(cases)('the addresses in the text %j are %j', (text, expected) => {
    expect(addressesIn(text).map(({ start, end }) => text.slice(start, end))).toEqual(expected);
  });
});
