import { canonicalTerms, compile, foldTerm } from './index.js';

/** Returns the parts of the text in which the term was found, or `false`. */
function found(mode: 'word' | 'contains', term: string, text: string): string[] | false {
  const [match] = compile([{ key: 'k', mode, terms: [term] }]).match({ title: '', text });
  return match ? match.matches.map(({ start, end }) => text.slice(start, end)) : false;
}

type Row = [term: string, text: string, found: string[] | false];

const WORD: Record<string, Row[]> = {
  'whole words': [
    ['acme', 'Acme rocks, ACME!', ['Acme', 'ACME']],
    ['acme', 'acmeology', false],
    ['acme', 'megacme acme2', false],
    ['acme', '(acme) "acme" acme.', ['acme', 'acme', 'acme']],
    ['acme', 'snake acme_client', false],
    ['acme', 'this is _acme_ and **acme**', ['acme', 'acme']],
    ['acme', '', false],
  ],
  'tags, mentions, possessives': [
    ['acme', '#acme @acme #acmeology', ['acme', 'acme']],
    ['#acme', 'I like #Acme', ['#Acme']],
    ['@acme', 'mail bob@acme or @acme', ['@acme']],
    ['acme', "Acme's and Acme’s", ['Acme', 'Acme']],
    ['acme', "l'Acme", ['Acme']],
    ["O'Reilly", 'by O’Reilly Media', ['O’Reilly']],
  ],
  'several words': [
    ['acme rocket', 'the Acme  Rocket and acme\nrocket', ['Acme  Rocket', 'acme\nrocket']],
    ['acme rocket', 'Acme-Rocket, acme – rocket', ['Acme-Rocket', 'acme – rocket']],
    ['Coca-Cola', 'coca cola', ['coca cola']],
    ['acme rocket', 'acme, rocket', false],
    ['acme rocket', 'rocket acme', false],
    ['acme rocket', 'acme rockets', false],
    ['"acme rocket"', 'an acme rocket', ['acme rocket']],
    ['the who', 'the the who', ['the who']],
  ],
  punctuation: [
    ['C++', 'I like C++, and C++17', ['C++', 'C++']],
    ['C++', 'C+', false],
    ['.NET', 'on .NET 8', ['.NET']],
    ['.NET', 'ASP.NET and acme.net', false],
    ['node.js', 'Node.js rules', ['Node.js']],
    ['AT&T', 'at&t is down', ['at&t']],
    ['AT&T', 'AT & T', false],
    ['Yahoo!', 'Yahoo! Mail, Yahoo', ['Yahoo!']],
    ['GPT 4', 'GPT 4.5 or GPT 4', ['GPT 4']],
    ['14', '3.14 and 1,014', false],
    ['--force', 'git push --force', ['--force']],
  ],
  'case and spelling': [
    ['straße', 'STRASSE Straße', ['STRASSE', 'Straße']],
    ['strasse', 'die Straße', ['Straße']],
    ['istanbul', 'İstanbul ISTANBUL', ['İstanbul', 'ISTANBUL']],
    ['ışık', 'IŞIK', ['IŞIK']],
    ['ΟΔΟΣ', 'οδος', ['οδος']],
    ['οδός', 'ΟΔΌΣ', ['ΟΔΌΣ']],
    ['find', 'ﬁnd', ['ﬁnd']],
    ['cafe', 'café', false],
    ['café', 'cafe\u0301 CAFÉ', ['cafe\u0301', 'CAFÉ']],
    ['cafe', 'cafe\u0301', false],
    ['acme', 'ａｃｍｅ', ['ａｃｍｅ']],
  ],
  'scripts without spaces': [
    ['東京', '私は東京都に住む', ['東京']],
    ['アクメ', '新しいアクメのロケット', ['アクメ']],
    ['acme', '新しいAcmeのロケット', ['Acme']],
    ['東京', '東 京', false],
    ['京', '東京京', ['京', '京']],
    ['か', 'が', false],
    ['กรุงเทพ', 'ฉันอยู่ที่กรุงเทพมหานคร', ['กรุงเทพ']],
    ['アクメ ロケット', 'アクメ・ロケット', ['アクメ・ロケット']],
    ['삼성', '삼성 전자', ['삼성']],
    ['삼성', '삼성전자', false],
    ['삼성', '\u1109\u1161\u11b7\u1109\u1165\u11bc', ['\u1109\u1161\u11b7\u1109\u1165\u11bc']],
    ['acme', 'acme는 좋다', ['acme']],
  ],
  'right to left': [
    ['شركة', 'هذه شركة كبيرة', ['شركة']],
    ['شركة', 'الشركة', false],
    ['محمد', 'محمـــد', ['محمـــد']],
    ['محمد', 'مُحَمَّد', false],
    ['שלום', 'אמר שלום.', ['שלום']],
    ['acme', '\u200fקניתי acme\u200f היום', ['acme']],
  ],
  emoji: [
    ['🚀', 'to the moon🚀🚀', ['🚀', '🚀']],
    ['👩‍💻', 'I am 👩‍💻 here', ['👩‍💻']],
    ['👩', '👩‍💻', false],
    ['👍', '👍🏽', false],
    ['👍🏽', 'ok 👍🏽', ['👍🏽']],
    ['❤', 'I ❤️ it', ['❤️']],
    ['🇩🇪', '🇫🇷🇩🇪', ['🇩🇪']],
    ['🇪🇫', '🇩🇪🇫🇷', false],
    ['acme 🚀', 'acme 🚀!', ['acme 🚀']],
    ['1', '1️⃣', false],
  ],
  'invisible characters': [
    ['acme', 'ac\u200bme', ['ac\u200bme']],
    ['acme', 'ac\u00adme \ufeffacme', ['ac\u00adme', 'acme']],
    ['acme rocket', 'acme\u00a0rocket', ['acme\u00a0rocket']],
    ['می\u200cخواهم', 'میخواهم', ['میخواهم']],
  ],
  addresses: [
    ['acme', 'see https://acme.com/acme', false],
    ['acme', 'see www.acme.com or acme.com/path or acme.io.', false],
    ['acme', 'bob@acme.com', false],
    ['acme', '@acme.bsky.social and @acme@mastodon.social', ['acme', 'acme']],
    ['acme', '[Acme](https://acme.com/x) (https://acme.com)acme', ['Acme', 'acme']],
    ['acme', 'acme.com是acme', ['acme']],
    ['acme', 'so I bought Acme.It flew', ['Acme']],
    ['acme', 'it is acme.', ['acme']],
    ['acme.com', 'https://www.acme.com/x', ['acme.com']],
    ['acme/rocket', 'https://github.com/acme/rocket', ['acme/rocket']],
    ['acme acme', 'acme acme.com', false],
    ['acme', 'https://a.example/?q=acme, acme', ['acme']],
  ],
};

const CONTAINS: Record<string, Row[]> = {
  substrings: [
    ['acme', 'megACMEology', ['ACME']],
    ['ana', 'banana', ['ana']],
    ['me ro', 'acme\n rocket', ['me\n ro']],
    ['ss', 'Straße', ['ß']],
    ['ind', 'ﬁnding', ['ﬁnd']],
    ['cafe', 'cafe\u0301s', false],
    ['x', 'x\u030c', false],
    ['é', 'cafe\u0301s', ['e\u0301']],
    ['stan', 'İSTANBUL', ['STAN']],
    ['京', '東京都', ['京']],
    ['👍', '👍🏽', ['👍']],
    ['acme', 'https://acme.com', false],
    ['acme.c', 'https://acme.com', ['acme.c']],
  ],
};

describe('mode word [keywords.match-word, keywords.match-urls]', () => {
  describe.each(Object.entries(WORD))('%s', (_, rows) => {
    it.each(rows)('the result for "%s" in "%s" is %j', (term, text, expected) => {
      expect(found('word', term, text)).toEqual(expected);
    });
  });
});

describe('mode contains [keywords.match-contains, keywords.match-urls]', () => {
  describe.each(Object.entries(CONTAINS))('%s', (_, rows) => {
    it.each(rows)('the result for "%s" in "%s" is %j', (term, text, expected) => {
      expect(found('contains', term, text)).toEqual(expected);
    });
  });
});

describe('terms', () => {
  it('are trimmed and folded', () => {
    expect(foldTerm('  Straße\t BERLIN ')).toBe('strasse berlin');
    expect(foldTerm('\u200b')).toBe('');
  });

  it('have one canonical list for any order and case', () => {
    expect(canonicalTerms(['Rocket', ' acme', 'ACME', '', 'É'])).toEqual(['acme', 'rocket', 'é']);
    expect(canonicalTerms(['E\u0301', 'acme', 'rocket '])).toEqual(['acme', 'rocket', 'é']);
  });
});
