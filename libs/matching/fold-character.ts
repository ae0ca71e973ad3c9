// A half of a surrogate pair without its other half becomes this character. Text encoders do the same.
export const REPLACEMENT_CHARACTER = '\ufffd';

const REPLACED = new Map<number, string>([
  [0x2018, "'"],
  [0x2019, "'"],
  [0x02bc, "'"],
]);

/**
 * Returns the canonical caseless form (Unicode D145, composed) of one base character with its marks. Typographic
 * apostrophes, dashes and full-width characters become ASCII characters, and ASCII white space becomes a space.
 */
export function foldCluster(cluster: string): string {
  let folded = '';
  // Lower, upper, lower is the full folding: upper expands ligatures, and the first lower handles ẞ.
  const caseless = cluster.normalize('NFD').toLowerCase().toUpperCase().toLowerCase();
  for (const char of caseless.replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').normalize('NFC')) {
    folded += plain(char);
  }
  return folded;
}

function plain(char: string): string {
  const point = char.codePointAt(0)!;
  if (point < 0x80) return /\s/.test(char) ? ' ' : char;
  const replaced = REPLACED.get(point);
  if (replaced !== undefined) return replaced;
  if (point >= 0xff01 && point <= 0xff5e) return String.fromCharCode(point - 0xfee0);
  if (/\p{Pd}/u.test(char) || point === 0x2212) return '-';
  return char;
}
