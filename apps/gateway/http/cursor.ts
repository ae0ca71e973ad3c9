import { Refusal } from '#kernel';
import { SignedText } from './signed-text.js';

/** Makes and reads cursors: opaque, signed, and good only for the list and the filters that they came from. */
export class Cursors {
  private readonly signed: SignedText;

  /** @param masterKey MASTER_KEY */
  constructor(masterKey: string) {
    this.signed = new SignedText(masterKey, 'cursors');
  }

  /**
   * @param scope everything that the cursor is bound to: account, list, filters
   * @param position where the next page begins; JSON
   */
  write(scope: unknown, position: unknown): string {
    return this.signed.write(scope, position);
  }

  /** @throws Refusal `invalid` when the cursor was changed, or belongs to another list, account or filter */
  read<T>(scope: unknown, cursor: string): T {
    const position = this.signed.read<T>(scope, cursor);
    if (position === undefined)
      throw Refusal.validation([
        { path: 'cursor', message: 'is not a cursor of this list with these filters; begin without one' },
      ]);
    return position;
  }
}
