import type { FastifyRequest } from 'fastify';

/**
 * Faults that only the language model has. The response is well-formed, but the answer in it begins with prose, has
 * other keys, ends early at the limit of tokens, or is a refusal.
 */
export const LLM_FAULT_KINDS = ['invalid_json', 'schema_violation', 'cut_off', 'declined'] as const;
/** A kind of fault of a language model's answer. */
export type LlmFaultKind = (typeof LLM_FAULT_KINDS)[number];

/** The fault of the answer to a request. */
export const answerFaults = new WeakMap<FastifyRequest, LlmFaultKind>();
