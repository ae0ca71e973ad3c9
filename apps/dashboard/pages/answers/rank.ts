import type { RowOf } from '../../../../clients/typescript/src/index.js';

export type Answer = RowOf<'/v1/keywords/{id}/answers'>;

/**
 * The place of a brand among the brands of the search, in the order in which the answer names them; 1 is the first.
 * @returns null if the answer does not name the brand
 */
export function rankOf({ brands }: Pick<Answer, 'brands'>, brand: string): number | null {
  const own = brands.find((one) => one.brand === brand)?.position ?? null;
  if (own === null) return null;
  return 1 + brands.filter(({ position }) => position !== null && position < own).length;
}

/** The brand that fits the name of the keyword (“Acme” for “Acme in answers”), or the first brand. */
export function ownBrandOf(keywordName: string, brands: readonly string[]): string {
  const name = keywordName.toLowerCase();
  return brands.find((brand) => name.includes(brand.toLowerCase())) ?? brands[0] ?? '';
}
