import type { RowOf } from '../../../../clients/typescript/src/index.js';

/** An answer of an AI engine. */
export type Answer = RowOf<'/v1/keywords/{id}/answers'>;

/**
 * Returns the rank of a brand among the brands of the search. The brand that the answer names first has rank 1.
 * @returns null if the answer does not name the brand
 */
export function rankOf({ brands }: Pick<Answer, 'brands'>, brand: string): number | null {
  const own = brands.find((one) => one.brand === brand)?.position ?? null;
  if (own === null) return null;
  return 1 + brands.filter(({ position }) => position !== null && position < own).length;
}

/**
 * Returns the brand that the name of the keyword contains (“Acme” in “Acme in answers”). If the name contains none,
 * returns the first brand.
 */
export function ownBrandOf(keywordName: string, brands: readonly string[]): string {
  const name = keywordName.toLowerCase();
  return brands.find((brand) => name.includes(brand.toLowerCase())) ?? brands[0] ?? '';
}
