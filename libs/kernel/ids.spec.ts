import fc from 'fast-check';
import { v5 } from 'uuid';
import { derivedId } from './ids.js';

const NAMESPACE = '6f1c2f5e-3b0a-5e0c-9d2b-0a6f8b6d4c11';

const part = fc.oneof(
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom('', '"', 'é'.repeat(3000), '😀'.repeat(5000), '\ud800'),
);

describe('the id of a fact', () => {
  it('is the UUIDv5 of its content, also if the content is long or not ASCII', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        expect(derivedId(...parts)).toBe(v5(JSON.stringify(parts), NAMESPACE));
      }),
    );
  });
});
