import chardet from 'chardet';
import iconv from 'iconv-lite';

// Labels that in practice mean a larger encoding (WHATWG Encoding): for example, text declared as Latin-1 is
// windows-1252.
const SUPERSETS: Readonly<Record<string, string>> = {
  'iso-8859-1': 'windows-1252',
  'iso8859-1': 'windows-1252',
  latin1: 'windows-1252',
  'us-ascii': 'windows-1252',
  ascii: 'windows-1252',
  gb2312: 'gb18030',
  gbk: 'gb18030',
  'iso-8859-9': 'windows-1254',
  'ks_c_5601-1987': 'euc-kr',
};
// A text is UTF-8 if the share of replacement characters among its characters beyond ASCII is smaller than this.
const MAX_REPLACEMENT_SHARE = 0.02;
// The detector reads this many bytes. A larger part would take longer and hardly change the result.
const SAMPLE_BYTES = 65_536;
// The beginnings of the escape sequences of ISO-2022-JP.
const ESCAPES = ['\x1b$', '\x1b('];

/**
 * Decodes the text of a feed. The encoding is the first of these that applies: 1. UTF-8 or UTF-16 if the first bytes
 * show it; 2. ISO-2022-JP if it is declared and the bytes contain its escape sequences; 3. UTF-8 if almost all
 * characters beyond ASCII are valid UTF-8, even if another encoding is declared, because declarations are often wrong;
 * 4. the charset of the HTTP header, and 5. the declaration in the file, each unless it is UTF-8, UTF-16 or UTF-32; 6. a
 * detected encoding.
 */
export function decodeFeed(bytes: Uint8Array, contentType: string | undefined): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fromFirstBytes = encodingOfFirstBytes(buffer);
  if (fromFirstBytes !== undefined) return iconv.decode(buffer, fromFirstBytes);
  const labels = [/charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType ?? '')?.[1], declarationOf(buffer)];
  // The bytes of ISO-2022-JP are ASCII, so UTF-8 would be recognized below. iconv-lite cannot decode it.
  if (
    ESCAPES.some((escape) => buffer.includes(escape)) &&
    labels.some((label) => /^(cs)?iso-?2022-?jp$/i.test(label ?? ''))
  )
    return new TextDecoder('iso-2022-jp').decode(buffer);
  const utf8 = buffer.toString('utf8');
  if (isUtf8(utf8)) return utf8;
  const declaredEncoding = labels
    .map(supportedEncoding)
    .find((name) => name !== undefined && !/^utf-?(8|16|32)/i.test(name));
  return iconv.decode(buffer, declaredEncoding ?? detectEncoding(buffer));
}

function encodingOfFirstBytes(bytes: Buffer): string | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  // UTF-16 without a byte order mark, if the first character is "<" or "{".
  if ((a === 0x3c || a === 0x7b) && b === 0 && d === 0) return 'utf-16le';
  if (a === 0 && (b === 0x3c || b === 0x7b) && c === 0) return 'utf-16be';
  return undefined;
}

function declarationOf(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 1_024).toString('latin1');
  return /<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/i.exec(start)?.[1];
}

function isUtf8(text: string): boolean {
  const broken = text.split('\ufffd').length - 1;
  if (broken === 0) return true;
  const nonAsciiCount = text.match(/\P{ASCII}/gu)?.length ?? 0;
  return broken / nonAsciiCount < MAX_REPLACEMENT_SHARE;
}

function detectEncoding(bytes: Buffer): string {
  // In a short feed, mark-up and English words would dominate the detection. So only words with bytes above 127 are
  // used.
  const text = bytes
    .subarray(0, SAMPLE_BYTES)
    .toString('latin1')
    .replace(/<[^>]*>/g, ' ');
  const words = text.match(/\S*[\u0080-\u00ff]\S*/g)?.join(' ') ?? '';
  const guesses = chardet.analyse(Buffer.from(words, 'latin1'));
  const guess = guesses
    .map(({ name }) => supportedEncoding(name))
    .find((name) => name !== undefined && !/^utf/i.test(name));
  return guess ?? 'windows-1252';
}

function supportedEncoding(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  const name = SUPERSETS[label.toLowerCase()] ?? label;
  return iconv.encodingExists(name) ? name : undefined;
}
