import { SettingsError, type Settings } from '#config';
import type { LlmOptions } from './llm.js';

/** The settings of the language model. A service that uses the model lists them. */
export const LLM_SETTINGS = [
  'LLM_URL',
  'LLM_MODEL',
  'LLM_TOKEN',
  'LLM_TEMPERATURE',
  'LLM_CONCURRENCY',
  'LLM_REQUESTS_PER_MINUTE',
  'LLM_TIMEOUT_MS',
] as const;

/**
 * Returns the language model that the settings name; undefined without LLM_URL.
 * @throws SettingsError if LLM_URL ends with `/chat/completions`, or is set without LLM_MODEL
 */
export function llmOptions(
  settings: Settings<(typeof LLM_SETTINGS)[number]>,
  userAgent: string,
): LlmOptions | undefined {
  const { LLM_URL: url, LLM_MODEL: model, LLM_TOKEN: token, LLM_TEMPERATURE: temperature } = settings;
  if (url === '') return undefined;
  if (/\/chat\/completions\/?$/.test(url))
    throw new SettingsError(
      'Settings are wrong:\n  LLM_URL: must be the base address; /chat/completions is appended',
    );
  if (model === '')
    throw new SettingsError(
      'Settings are wrong:\n  LLM_MODEL: must name the model of LLM_URL, because LLM_URL is set',
    );
  return {
    url,
    model,
    token,
    temperature: temperature === 'none' ? undefined : temperature,
    concurrency: settings.LLM_CONCURRENCY,
    requestsPerMinute: settings.LLM_REQUESTS_PER_MINUTE,
    timeoutMs: settings.LLM_TIMEOUT_MS,
    userAgent,
  };
}
