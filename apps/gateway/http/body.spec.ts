import 'reflect-metadata';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsObject,
  IsString,
  Length,
  MaxLength,
} from 'class-validator';
import fc from 'fast-check';
import { Refusal } from '#kernel';
import { inSpellingOf, readBody, type Spelling } from './body.js';
import { KeepUnchanged, Optional } from './validators.js';

class NoteDto {
  @IsString() noteText!: string;
  @Optional() @IsInt() sizeBytes?: number;
  @Optional()
  @IsArray()
  @ArrayMinSize(2)
  @IsString({ each: true })
  @MaxLength(3, { each: true })
  tags?: string[];
  @Optional() @IsObject() @KeepUnchanged() filters?: Record<string, unknown>;
}

function refusalOf(raw: unknown, spelling: Spelling = 'any'): Refusal {
  try {
    readBody(NoteDto, raw, spelling);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('the body was accepted');
}

class LimitedDto {
  @IsString() @Length(1, 5) name!: string;
  @IsString() @Length(2, 5) code!: string;
  @IsArray() @ArrayMinSize(1) @ArrayMaxSize(2) tags!: string[];
}

describe('reading a body', () => {
  it.each([
    [
      { name: '', code: 'a', tags: [] },
      ['must not be empty', 'must have at least 2 characters', 'must contain at least one element'],
    ],
    [
      { name: 'abcdef', code: 'abcdef', tags: ['a', 'b', 'c'] },
      ['must have at most 5 characters', 'must have at most 5 characters', 'must contain at most 2 elements'],
    ],
  ])('reports the faulty lengths of %j in plain words', (raw, messages) => {
    expect(() => readBody(LimitedDto, raw)).toThrow(
      expect.objectContaining({
        details: ['name', 'code', 'tags'].map((path, n) => ({ path, message: messages[n] })),
      }),
    );
  });

  it.each([undefined, null, 'text', 5, true, []])('requires an object and refuses %j', (raw) => {
    const { kind, code, details, message } = refusalOf(raw);
    expect([kind, code, message]).toEqual(['invalid', 'VALIDATION', 'must be a JSON object']);
    expect(details).toEqual([{ path: '', message: 'must be a JSON object' }]);
  });

  it('accepts keys in both spellings, or only in camelCase if the endpoint requires camelCase [requests.snake-bodies, requests.queries-camel]', () => {
    expect(readBody(NoteDto, { note_text: 'a', sizeBytes: 1 })).toEqual({ noteText: 'a', sizeBytes: 1 });
    expect(readBody(NoteDto, { noteText: 'a' }, 'camel')).toEqual({ noteText: 'a' });
    expect(refusalOf({ note_text: 'a' }, 'camel').details).toEqual([
      { path: 'note_text', message: 'is not a known key; did you mean noteText?' },
      { path: 'noteText', message: 'is required' },
    ]);
  });

  it('writes the path of a fault in the sender’s spelling', () => {
    expect(refusalOf({ note_text: 'a', size_bytes: 'x' }).details).toEqual([
      { path: 'size_bytes', message: 'must be an integer number' },
    ]);
  });

  it('writes each key of a path as it was sent, although the other keys have another spelling', () => {
    const paths = (raw: unknown) => refusalOf(raw).details?.map(({ path }) => path);
    expect(paths({ note_text: 'a', sizeBytes: 'x', webhookURL: 1, Spike: 1 })?.toSorted()).toEqual([
      'Spike',
      'sizeBytes',
      'webhookURL',
    ]);
  });

  it('refuses the same key in both spellings [requests.both-spellings]', () => {
    expect(refusalOf({ noteText: 'a', note_text: 'b' }).details).toEqual([
      { path: 'note_text', message: 'is given twice: as noteText and as note_text' },
    ]);
  });

  it('names a missing key in the spelling of the other keys, or of the endpoint if the other keys show no spelling', () => {
    const missing = (raw: unknown, spelling?: Spelling) => refusalOf(raw, spelling).details?.[0]?.path;
    expect(missing({ size_bytes: 1 })).toBe('note_text');
    expect(missing({ sizeBytes: 1 }, 'snake')).toBe('noteText');
    expect(missing({})).toBe('noteText');
    expect(missing({}, 'snake')).toBe('note_text');
    expect(missing({}, 'camel')).toBe('noteText');
    expect(missing({ filters: { sizeBytes: 1 } }, 'snake')).toBe('note_text');
  });

  it('keeps the keys inside `filters` unchanged in the path of a fault', () => {
    const faults = (raw: unknown) => {
      try {
        readBody(NoteDto, raw, 'snake', () => [
          () => [{ path: 'filters.note_text.sizeBytes[0]', message: 'x' }],
        ]);
      } catch (error) {
        return (error as Refusal).details;
      }
      return [];
    };
    expect(faults({ note_text: 'a' })).toEqual([{ path: 'filters.note_text.sizeBytes[0]', message: 'x' }]);
    expect(faults({ noteText: 'a' })).toEqual([{ path: 'filters.note_text.sizeBytes[0]', message: 'x' }]);
  });

  it('reports only the wrong type if a value, or an element of a list, has the wrong type', () => {
    expect(refusalOf({ noteText: 'a', tags: 'x' }).details).toEqual([
      { path: 'tags', message: 'must be an array' },
    ]);
    expect(refusalOf({ noteText: 'a', tags: ['x', 1] }).details).toEqual([
      { path: 'tags', message: 'each value must be a string' },
    ]);
    expect(refusalOf({ noteText: 'a', tags: ['x', 'toolong'] }).details).toEqual([
      { path: 'tags', message: 'each value must have at most 3 characters' },
    ]);
  });

  it('reports the same fault only once', () => {
    const fault = { path: 'noteText', message: 'x' };
    expect(() => readBody(NoteDto, { noteText: 'a' }, 'any', () => [() => [fault, { ...fault }]])).toThrow(
      'noteText: x',
    );
  });

  it('keeps the content of `filters`, with any keys [requests.user-data]', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.oneof(
            fc.string({ unit: 'grapheme' }),
            fc.constantFrom('__proto__', 'constructor', 'a_b', 'then', 'toString'),
          ),
          fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }),
        ),
        (filters) => {
          fc.pre(!/\\u0000|\\ud[89a-f]/.test(JSON.stringify(filters)));
          const raw: unknown = JSON.parse(JSON.stringify({ note_text: 'a', filters }));
          expect(JSON.stringify(readBody(NoteDto, raw).filters)).toBe(JSON.stringify(filters));
        },
      ),
    );
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'colour'])(
    'names the unknown key %s [requests.unknown-key]',
    (key) => {
      const raw: unknown = JSON.parse(`{"noteText":"a","${key}":{}}`);
      expect(refusalOf(raw).details).toEqual([{ path: key, message: 'is not a known key' }]);
    },
  );

  it.each([
    ['\0', 'U+0000'],
    ['\ud800', 'half of a surrogate pair'],
    ['\udc00x', 'the other half of a surrogate pair'],
  ])('refuses the text %j (%s) in a value, in a nested list and in a key', (text) => {
    const message = 'must not contain U+0000 or an unpaired surrogate (half of a character)';
    expect(refusalOf({ note_text: `a${text}` }).details).toEqual([{ path: 'note_text', message }]);
    expect(refusalOf({ noteText: 'a', filters: { x: [text] } }).details).toEqual([
      { path: 'filters.x[0]', message },
    ]);
    expect(refusalOf({ noteText: 'a', filters: { [text]: 1 } }).details).toEqual([
      {
        path: 'filters',
        message: 'must not have a key with U+0000 or an unpaired surrogate (half of a character)',
      },
    ]);
  });

  it('runs the checks of values, and ignores a check that throws because a type in the body is wrong', () => {
    const ask = (raw: unknown) => {
      try {
        readBody(NoteDto, raw, 'any', ({ noteText, filters }) => [
          () => [{ path: 'noteText', message: noteText.toUpperCase() }],
          () => (filters ? [{ path: 'filters', message: 'are not wanted here' }] : []),
        ]);
        return undefined;
      } catch (error) {
        return (error as Refusal).details;
      }
    };
    expect(ask({ note_text: 'a' })).toEqual([{ path: 'note_text', message: 'A' }]);
    expect(ask({ note_text: 5, filters: {} })).toEqual([
      { path: 'note_text', message: 'must be a string' },
      { path: 'filters', message: 'are not wanted here' },
    ]);
  });

  it('suggests the intended key, in the spelling of the other keys [requests.unknown-key]', () => {
    expect(refusalOf({ noteText: 'a', sizeByte: 1 }).details).toEqual([
      { path: 'sizeByte', message: 'is not a known key; did you mean sizeBytes?' },
    ]);
    expect(refusalOf({ note_text: 'a', size_byte: 1 }).details).toEqual([
      { path: 'size_byte', message: 'is not a known key; did you mean size_bytes?' },
    ]);
    expect(refusalOf({ note_text: 'a', colour: 1 }).details).toEqual([
      { path: 'colour', message: 'is not a known key' },
    ]);
  });

  it('rethrows the error of a check if all types in the body are right', () => {
    const defect = new Error('defect');
    const ask = () => {
      throw defect;
    };
    expect(() => readBody(NoteDto, { noteText: 'a' }, 'any', () => [ask])).toThrow(defect);
  });

  it('reports the first fault in the message, and at most 50 faults in the details', () => {
    const unknown = Array.from({ length: 60 }, (_, n) => [`x${n}`, 1]);
    const { message, details } = refusalOf({ noteText: 5, ...Object.fromEntries(unknown) });
    expect(message).toBe('x0: is not a known key (1 of 61 faults; details has the first 50)');
    expect(details).toHaveLength(50);
    expect(details?.[0]).toEqual({ path: 'x0', message: 'is not a known key' });
  });

  it('shortens the path and the message of a fault that quotes a very long key', () => {
    const { details } = refusalOf({ noteText: 'a', ['k'.repeat(100_000)]: 1 });
    expect(details).toEqual([{ path: `${'k'.repeat(500)}…`, message: 'is not a known key' }]);
  });
});

describe('a refusal that a service returns', () => {
  it.each([
    [{ note_text: 'a' }, 'size_bytes', 'size_bytes'],
    [{ note_text: 'a' }, 'sizeBytes', 'size_bytes'],
    [{ noteText: 'a' }, 'size_bytes', 'sizeBytes'],
    [{ noteText: 'a' }, 'sizeBytes', 'sizeBytes'],
    [{}, 'size_bytes', 'size_bytes'],
  ])('uses the spelling of the body %j: a fault at %s gets the path %s', async (raw, path, spelled) => {
    const work = () => Promise.reject(Refusal.validation([{ path, message: 'is too large' }]));
    await expect(inSpellingOf(raw, work)).rejects.toMatchObject({
      message: `${spelled}: is too large`,
      details: [{ path: spelled, message: 'is too large' }],
    });
  });
});
