import { LOCAL_EMBEDDINGS } from '#embeddings';
import { LOCAL_READER } from '#readers';

/** Injection token of the local reader. */
export const READER = Symbol('local reader');

/** The names of the local reader's models, as readings contain them. */
export const LOCAL_MODEL = { ...LOCAL_READER, embedding: LOCAL_EMBEDDINGS };
