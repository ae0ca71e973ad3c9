export * from './source.js';
export { buildItem } from './shared/item.js';
export { cutObservation, cutText } from './shared/size-limits.js';
export * from './registry.js';
export * from './shared/upstream-http.js';
export { brandDomainsOf, brandsOf, readBrands, type BrandReading } from './ai_answers/index.js';
export { marketOf as vintedMarketOf, type Market as VintedMarket } from './vinted/index.js';
