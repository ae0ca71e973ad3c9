export { createVintedConnector } from './connector.js';
export { marketOf, type Market } from './markets.js';
export { parseCatalog, type CatalogPage, type Listing } from './parse.js';
