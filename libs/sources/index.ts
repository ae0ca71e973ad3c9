export * from './source.js';
export { buildItem } from './item.js';
export * from './rate-headers.js';
export { cutObservation, cutText } from './size-limits.js';
export * from './registry.js';
export * from './upstream-http.js';
export { brandDomainsOf, brandsOf, readBrands, type BrandReading } from './ai_answers/index.js';
export { marketOf as vintedMarketOf, type Market as VintedMarket } from './vinted/index.js';
