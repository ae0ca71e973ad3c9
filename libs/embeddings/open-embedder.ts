import { SettingsError, type Settings } from '#config';
import { createOutboundHttp } from '#http-out';
import type { Embedder } from './embedder.js';
import { LocalEmbedder } from './local-embedder.js';
import { RemoteEmbedder } from './remote-embedder.js';

/** The settings of the embeddings. Each service that computes embeddings has them in its list of settings. */
export const EMBEDDINGS_SETTINGS = ['EMBEDDINGS_URL', 'EMBEDDINGS_MODEL', 'EMBEDDINGS_TOKEN'] as const;

/** Values of these settings. */
export type EmbeddingsSettings = Settings<(typeof EMBEDDINGS_SETTINGS)[number]>;

/** Checks the settings. @throws SettingsError if EMBEDDINGS_URL is set without EMBEDDINGS_MODEL */
export function checkEmbeddings(settings: EmbeddingsSettings): void {
  if (settings.EMBEDDINGS_URL !== '' && settings.EMBEDDINGS_MODEL === '')
    throw new SettingsError(
      'Settings are wrong:\n  EMBEDDINGS_MODEL: required, because EMBEDDINGS_URL is set: the name of the model on that server',
    );
}

/** Opens the embedder: the server of EMBEDDINGS_URL if it is set, otherwise the local model. */
export function openEmbedder(settings: EmbeddingsSettings, userAgent: string): Embedder {
  const { EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: model, EMBEDDINGS_TOKEN: token } = settings;
  if (url === '') return new LocalEmbedder();
  return new RemoteEmbedder({ url, model, token, http: createOutboundHttp({ allow: [], userAgent }) });
}
