import type { ItemEvent } from '#contracts';

/**
 * Returns in a few words what has happened to an item, for a message: empty for an item that is simply new. The words
 * can contain a brand as the user wrote it.
 */
export function newsOf({ type, price, previousPrice, currency, brand }: ItemEvent): string {
  switch (type) {
    case 'listing.delisted':
      return 'no longer listed';
    case 'listing.price_changed':
      return price === null || previousPrice === null
        ? 'price changed'
        : `price changed: ${previousPrice.toFixed(2)} to ${priceText(price, currency)}`;
    case 'answer.created':
      return 'first answer';
    case 'answer.changed':
      return 'answer changed';
    case 'term.cited':
      return `cites ${brand ?? 'a brand'}`;
    case 'term.uncited':
      return `no longer cites ${brand ?? 'a brand'}`;
    default:
      return '';
  }
}

/** Returns a price with its currency. */
export function priceText(price: number, currency: string | null): string {
  return [price.toFixed(2), currency].filter(Boolean).join(' ');
}
