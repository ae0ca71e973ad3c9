import { Refusal } from '#kernel';
import { listedKeyword } from './keyword-tools.js';
import type { ToolContext } from './tool.js';
import { mentionForAgent, NOTICE } from './untrusted.js';

const JSON_TYPE = 'application/json';

/** The resources with a fixed address. */
export const RESOURCES = [
  {
    uri: 'earshot://keywords',
    name: 'keywords',
    title: 'Keywords',
    description: 'The keywords of the account with their state and price, at most 200',
    mimeType: JSON_TYPE,
  },
  {
    uri: 'earshot://sources',
    name: 'sources',
    title: 'Sources',
    description: 'The sources, whether each is configured and healthy, and the price of a check',
    mimeType: JSON_TYPE,
  },
  {
    uri: 'earshot://credits',
    name: 'credits',
    title: 'Credits',
    description: 'The credits of the account, and how they were used in this period',
    mimeType: JSON_TYPE,
  },
] as const;

/** The resources whose address contains an id. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'earshot://keywords/{id}',
    name: 'keyword',
    title: 'A keyword',
    description: 'All settings of a keyword',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'earshot://mentions/{id}',
    name: 'mention',
    title: 'A mention',
    description: 'A mention with its text, which was written by a stranger',
    mimeType: JSON_TYPE,
  },
] as const;

const MENTION_CHARACTERS = 4000;

/** Reads the resource at an address, as JSON. @throws Refusal `not-found` */
export async function readResource(context: ToolContext, uri: string) {
  const content = await contentOf(context, uri);
  return { uri, mimeType: JSON_TYPE, text: JSON.stringify(content) };
}

async function contentOf({ caller, routes }: ToolContext, uri: string): Promise<unknown> {
  const [, kind, id] = /^earshot:\/\/([a-z]+)(?:\/([\w-]{1,64}))?$/.exec(uri) ?? [];
  if (id === undefined)
    switch (kind) {
      case 'keywords':
        return (await routes.keywords.list(caller, { limit: '200' })).data.map((one) => listedKeyword(one));
      case 'sources':
        return routes.sources.list(caller, {});
      case 'credits':
        return routes.credits.balance(caller, {});
      default:
        throw Refusal.notFound('resource');
    }
  if (kind === 'keywords') return routes.keywords.read(caller, id);
  if (kind === 'mentions')
    return { notice: NOTICE, ...mentionForAgent(await routes.mentions.read(caller, id), MENTION_CHARACTERS) };
  throw Refusal.notFound('resource');
}
