export { createAiAnswersConnector } from './connector.js';
export { AI_ANSWERS_SETTINGS, aiAnswersSettings, type AiAnswersSettings } from './engines.js';
export { readBrands, type BrandDomains, type BrandReading } from './brands.js';
export { brandDomainsOf, brandsOf } from './criteria.js';
