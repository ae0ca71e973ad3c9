import { checkEmbeddings, EMBEDDINGS_SETTINGS } from '#embeddings';
import { LLM_SETTINGS, llmOptions } from '#llm';
import { readServiceSettings, USER_AGENT } from '#platform';

/** Injection token of the embedder, which computes vectors of the meaning of texts. */
export const EMBEDDER = Symbol('embedder');
/** Injection token of the setting PUBLIC_URL: the address at which people open the gateway. */
export const PUBLIC_URL = Symbol('public url');

/** Reads the settings of analysis from the environment. @throws SettingsError */
export function readAnalysisConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['PUBLIC_URL', ...EMBEDDINGS_SETTINGS, ...LLM_SETTINGS], env);
  checkEmbeddings(settings);
  return { ...settings, llm: llmOptions(settings, USER_AGENT) };
}

/** The settings of analysis. */
export type AnalysisConfig = ReturnType<typeof readAnalysisConfig>;
