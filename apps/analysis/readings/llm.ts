/** Injection token of the language model; undefined if no model is configured. */
export const LLM = Symbol('language model');
