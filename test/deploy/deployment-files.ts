import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '#config';
import { sourceSettings } from '#sources';
import { checkout } from '#testing';
import { readAnalysisConfig } from '../../apps/analysis/config.js';
import { readBillingConfig } from '../../apps/billing/config.js';
import { readDeliveryConfig } from '../../apps/delivery/config.js';
import { readGatewayConfig } from '../../apps/gateway/config.js';
import { readKeywordsConfig } from '../../apps/keywords/config.js';
import { readPollingConfig } from '../../apps/polling/config.js';

/** The path of the checkout. */
export const ROOT = fileURLToPath(checkout);

/**
 * The function with which each service reads its environment. The function throws if a setting is missing or
 * wrong.
 */
export const CONFIG_READERS: Record<string, (env: NodeJS.ProcessEnv) => unknown> = {
  gateway: readGatewayConfig,
  keywords: readKeywordsConfig,
  polling: readPollingConfig,
  analysis: readAnalysisConfig,
  billing: readBillingConfig,
  delivery: readDeliveryConfig,
};

/** Returns the text of a file of the checkout. */
export function read(...path: string[]): string {
  return readFileSync(join(ROOT, ...path), 'utf8');
}

/** Returns the only document of a YAML file, with `<<` merged. */
export function readYaml<T>(...path: string[]): T {
  return parse(read(...path), { merge: true }) as T;
}

/** Returns all documents of a YAML file. */
export function readYamls<T>(...path: string[]): T[] {
  return parseAllDocuments(read(...path)).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as T;
  });
}

/** Parses lines of the form `NAME=value`. */
export function parseEnv(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

/** Returns the names that are not settings of Earshot. */
export function unknownSettings(names: readonly string[]): string[] {
  const ofSources = new Set(sourceSettings().map(({ name }) => name));
  const known = (name: string) =>
    Object.hasOwn(SETTINGS, name) || ofSources.has(name) || /^SOURCE_[A-Z_]+_(URL|ENABLED|LANES)$/.test(name);
  return names.filter((name) => !known(name));
}
