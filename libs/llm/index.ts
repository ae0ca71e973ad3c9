export { createLlm, Llm, retryWaitMs, type LlmOptions } from './llm.js';
export { LlmLane, type LaneBudget, type ServerState, type SharedTurns, type TurnLimits } from './lane.js';
export { LlmError, type LlmErrorKind } from './llm-error.js';
export { LLM_SETTINGS, llmOptions } from './settings.js';
export type { Checked, LlmAnswers, LlmItem, LlmReading } from './reading.js';
export { analysisReading, type AnalysisAnswer, type ReadSubject } from './prompts/analysis.js';
export { agentStepReading, type AgentStepFields } from './prompts/agent-step.js';
export { bucketReading, type BucketAnswer, type LlmBucketPreset } from './prompts/bucket.js';
export { asLlmItem } from './prompts/item.js';
