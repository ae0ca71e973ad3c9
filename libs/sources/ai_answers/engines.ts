import { anthropic } from './anthropic.js';
import { ENGINES, modelSetting, tokenSetting, type Engine, type EngineApi } from './answer.js';
import { gemini } from './gemini.js';
import { openai } from './openai.js';
import { perplexity } from './perplexity.js';

/** The API of each engine. */
export const ENGINE_APIS: Readonly<Record<Engine, EngineApi>> = { openai, anthropic, perplexity, gemini };

/** The settings of one engine. */
export interface EngineAccess {
  token: string;
  model: string;
}

/** The configured engines. */
export type AiAnswersSettings = Readonly<Partial<Record<Engine, EngineAccess>>>;

/** Reads `AI_<ENGINE>_TOKEN` and `AI_<ENGINE>_MODEL`. */
export function aiAnswersSettings(env: Readonly<Record<string, string | undefined>>): AiAnswersSettings {
  return Object.fromEntries(
    ENGINES.flatMap((engine) => {
      const token = env[tokenSetting(engine)]?.trim();
      const model = env[modelSetting(engine)]?.trim() || ENGINE_APIS[engine].defaultModel;
      return token ? [[engine, { token, model }]] : [];
    }),
  );
}

/** The settings of all engines, described for people. */
export const AI_ANSWERS_SETTINGS: Readonly<Record<string, string>> = Object.fromEntries(
  ENGINES.flatMap((engine) => [
    [tokenSetting(engine), 'API key; at least one engine is required'],
    [modelSetting(engine), `model; default ${ENGINE_APIS[engine].defaultModel}`],
  ]),
);
