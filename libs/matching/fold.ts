import {
  Kind,
  isHangulBase,
  isPictograph,
  isTrailingJamo,
  isVariationSelector,
  kindOf,
} from './characters.js';
import { REPLACEMENT_CHARACTER, foldCluster } from './fold-character.js';
import { resolveKinds } from './resolve-kinds.js';

/**
 * Text in the form in which texts and terms are compared, with positions in the original. All arrays are indexed by
 * UTF-16 code unit of the folded text; `starts` and `ends` (exclusive) are code units of the original.
 */
export interface FoldedText {
  readonly length: number;
  readonly units: Uint16Array;
  /** Contains only `Kind.space` to `Kind.hangul`. */
  readonly kinds: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

// Maximum number of code points of one letter with its marks. More marks carry no meaning (UAX #15, stream-safe text),
// and the time to sort marks is quadratic.
const MAX_CLUSTER_POINTS = 32;

// Folds of single code points. The map contains every fold that has been computed. Folds from one code unit to one code
// unit are also in the tables (kind 0: the tables do not have the unit).
const simpleFolds = new Uint16Array(0x10000);
const simpleKinds = new Uint8Array(0x10000);
for (let unit = 0; unit < 0x80; unit++) {
  simpleKinds[unit] = kindOf(unit);
  simpleFolds[unit] =
    simpleKinds[unit] === Kind.space ? 0x20 : String.fromCharCode(unit).toLowerCase().charCodeAt(0);
}
const foldsOfPoints = new Map<number, string>();

/** Folds one text after another into the same arrays. A result of `fold` is valid until the next call. */
export class Folder implements FoldedText {
  length = 0;
  units = new Uint16Array(1024);
  kinds = new Uint8Array(1024);
  starts = new Int32Array(1024);
  ends = new Int32Array(1024);

  /**
   * Folds case completely (ß becomes ss, ﬁ becomes fi, ς becomes σ, İ and ı become i), composes canonically, removes
   * invisible characters, replaces each run of whitespace by one space, and replaces dashes, apostrophes and full-width
   * letters by their plain form.
   */
  fold(text: string): FoldedText {
    this.length = 0;
    // Most texts become at most a few units longer; `append` makes room for the rare texts that become much
    // longer.
    this.reserve(text.length + 8);
    for (let at = this.takeSimple(text, 0); at < text.length; at = this.takeSimple(text, at)) {
      at = this.takeCluster(text, at);
    }
    resolveKinds(this.kinds, this.length);
    return this;
  }

  /**
   * Handles the common case, in which one unit becomes one unit. Stops before a character that needs more work, or when
   * the arrays are full. Returns the position at which it stopped.
   */
  private takeSimple(text: string, from: number): number {
    const { units, kinds, starts, ends } = this;
    const room = units.length;
    let length = this.length;
    let before = length > 0 ? kinds[length - 1]! : Kind.unknown;
    let at = from;
    for (; at < text.length && length < room; at++) {
      const unit = text.charCodeAt(at);
      const kind = simpleKinds[unit]!;
      if (kind === Kind.unknown) {
        // The unit can be a mark of the previous character (a space takes no marks). Then both are folded together.
        if (at > from && before !== Kind.space && composes(unit)) {
          at -= 1;
          length -= 1;
        }
        break;
      }
      if (kind === Kind.space && before === Kind.space) {
        ends[length - 1] = at + 1;
        continue;
      }
      units[length] = simpleFolds[unit]!;
      kinds[length] = kind;
      starts[length] = at;
      ends[length] = at + 1;
      length += 1;
      before = kind;
    }
    this.length = length;
    return at;
  }

  /** Appends one base character with its marks; returns the position after the marks. */
  private takeCluster(text: string, from: number): number {
    const base = text.codePointAt(from)!;
    const width = base > 0xffff ? 2 : 1;
    const kind = kindOf(base);
    if (kind === Kind.ignored) {
      // A variation selector is removed as well, but the end of the preceding character must include it.
      if (isVariationSelector(base) && this.length > 0) this.ends[this.length - 1] = from + width;
      return from + width;
    }
    if (kind === Kind.emojiJoiner) return this.takeJoiner(text, from);
    let end = from + width;
    let points = 1;
    let cluster = '';
    let last = base;
    while (points < MAX_CLUSTER_POINTS && this.continues(text, end, last)) {
      if (cluster === '')
        cluster = kind === Kind.surrogate ? REPLACEMENT_CHARACTER : String.fromCodePoint(base);
      const point = text.codePointAt(end)!;
      const pointKind = kindOf(point);
      if (pointKind !== Kind.ignored && pointKind !== Kind.emojiJoiner) {
        cluster += String.fromCodePoint(point);
        last = point;
      }
      end += point > 0xffff ? 2 : 1;
      points += 1;
    }
    if (cluster === '') this.putPoint(base, kind, from, end);
    else this.putString(foldCluster(cluster), from, end);
    return end;
  }

  /**
   * Takes a zero-width joiner. It matters only between two emoji, which it joins; in Indic and Arabic text it only
   * affects the form.
   */
  private takeJoiner(text: string, at: number): number {
    const next = text.codePointAt(at + 1);
    const joins = next !== undefined && isPictograph(next) && this.endsInEmoji();
    if (!joins) return at + 1;
    this.put(0x200d, Kind.extend, at, at + 1);
    const from = this.length;
    const end = this.takeCluster(text, at + 1);
    for (let i = from; i < this.length; i++) this.kinds[i] = Kind.extend;
    return end;
  }

  /** Returns true if the text so far ends in an emoji, with or without a skin tone. */
  private endsInEmoji(): boolean {
    const at = this.length;
    let point = this.pointBefore(at);
    if (kindOf(point) === Kind.emojiModifier) point = this.pointBefore(at - 2);
    return isPictograph(point);
  }

  private pointBefore(at: number): number {
    const unit = at > 0 ? this.units[at - 1]! : 0;
    const isTrail = unit >= 0xdc00 && unit <= 0xdfff;
    return isTrail ? 0x10000 + ((this.units[at - 2]! - 0xd800) << 10) + (unit - 0xdc00) : unit;
  }

  /**
   * Returns true if the text at `at` is a mark or a trailing jamo that belongs to the preceding character. Invisible
   * characters can come before it.
   */
  private continues(text: string, at: number, last: number): boolean {
    let look = at;
    for (let passed = 0; passed < MAX_CLUSTER_POINTS; passed++) {
      const point = text.codePointAt(look);
      if (point === undefined || point < 0x80) return false;
      const kind = kindOf(point);
      if (kind === Kind.mark) return true;
      if (isTrailingJamo(point)) return isHangulBase(last);
      if (kind !== Kind.ignored && kind !== Kind.emojiJoiner) return false;
      look += point > 0xffff ? 2 : 1;
    }
    return false;
  }

  private putPoint(point: number, kind: number, start: number, end: number): void {
    if (kind === Kind.emojiModifier || kind === Kind.regional || (point > 0xffff && kind === Kind.other)) {
      return this.putPair(point, kind, start, end);
    }
    let folded = foldsOfPoints.get(point);
    if (folded === undefined) {
      folded = kind === Kind.surrogate ? REPLACEMENT_CHARACTER : foldCluster(String.fromCodePoint(point));
      foldsOfPoints.set(point, folded);
      if (point <= 0xffff && folded.length === 1 && !composes(point)) {
        simpleKinds[point] = kindOf(folded.charCodeAt(0));
        simpleFolds[point] = kind === Kind.space ? 0x20 : folded.charCodeAt(0);
      }
    }
    this.putString(folded, start, end);
  }

  private putString(folded: string, start: number, end: number): void {
    for (let i = 0; i < folded.length; i++) {
      const point = folded.codePointAt(i)!;
      if (point > 0xffff) {
        this.putPair(point, kindOf(point), start, end);
        i += 1;
      } else {
        this.put(point, kindOf(point), start, end);
      }
    }
  }

  private putPair(point: number, kind: number, start: number, end: number): void {
    const [lead, trail] = [0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff)];
    this.put(lead, kind, start, end);
    const written = this.kinds[this.length - 1]!;
    // A pair is never split: its second half has the kind of the first half if that kind joins with itself, otherwise
    // `extend`.
    const joins = written >= Kind.word && written !== Kind.regional;
    this.append(trail, joins ? written : Kind.extend, start, end);
  }

  private put(unit: number, kind: number, start: number, end: number): void {
    const last = this.length - 1;
    const before = last >= 0 ? this.kinds[last]! : Kind.space;
    if (kind === Kind.space) {
      if (before === Kind.space && last >= 0) this.ends[last] = end;
      else this.append(0x20, Kind.space, start, end);
      return;
    }
    if (kind === Kind.mark || kind === Kind.emojiModifier) {
      kind = joinLeft(before);
      // A dash with a mark is no longer a gap between words.
      if (before === Kind.dash) this.kinds[last] = Kind.other;
    } else if (kind === Kind.surrogate || kind === Kind.ignored) kind = Kind.other;
    this.append(unit, kind, start, end);
  }

  private append(unit: number, kind: number, start: number, end: number): void {
    const at = this.length;
    if (at === this.units.length) this.reserve(at * 2);
    this.units[at] = unit;
    this.kinds[at] = kind;
    this.starts[at] = start;
    this.ends[at] = end;
    this.length = at + 1;
  }

  private reserve(size: number): void {
    if (size < this.units.length) return;
    const capacity = Math.max(size + 1, this.units.length * 2);
    const [units, kinds, starts, ends] = [this.units, this.kinds, this.starts, this.ends];
    this.units = new Uint16Array(capacity);
    this.kinds = new Uint8Array(capacity);
    this.starts = new Int32Array(capacity);
    this.ends = new Int32Array(capacity);
    this.units.set(units);
    this.kinds.set(kinds);
    this.starts.set(starts);
    this.ends.set(ends);
  }
}

function joinLeft(before: number): number {
  if (before === Kind.space) return Kind.other;
  return before === Kind.word || before === Kind.digit || before === Kind.hangul ? before : Kind.extend;
}

/**
 * Returns true for units that can belong to the preceding character: marks, trailing jamo, and invisible characters
 * that can come before them. Also true for half of a surrogate pair, because the pair can be such a character.
 */
function composes(unit: number): boolean {
  const kind = kindOf(unit);
  return (
    kind === Kind.mark ||
    kind === Kind.ignored ||
    kind === Kind.emojiJoiner ||
    kind === Kind.surrogate ||
    isTrailingJamo(unit)
  );
}
