export { LOCAL_READER, startLocalReader } from './local-reader.js';
export type { LocalReader, LocalReading, ReadItem, ReadRequest, ReadSubject } from './reading.js';
