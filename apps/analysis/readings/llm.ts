/** Injection token of the language model; undefined if none is set. */
export const LLM = Symbol('language model');
