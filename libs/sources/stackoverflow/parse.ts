import { unescaped } from '../shared/escaped-text.js';
import { htmlToText } from '../shared/html-text.js';
import { buildItem } from '../shared/item.js';
import {
  countOf,
  isoOfSeconds,
  listOf,
  numberOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { SourceItem } from '../source.js';

/** One page of questions or answers. */
export interface PostPage {
  items: SourceItem[];
  warnings: string[];
  hasMore: boolean;
}

// Sites that have their own domain. Their sites in other languages (`es.stackoverflow`) and their meta sites
// (`meta.serverfault`) are in the same domain. All other sites are subdomains of stackexchange.com.
const OWN_DOMAINS: Readonly<Record<string, string>> = {
  stackoverflow: 'stackoverflow.com',
  serverfault: 'serverfault.com',
  superuser: 'superuser.com',
  askubuntu: 'askubuntu.com',
  stackapps: 'stackapps.com',
  mathoverflow: 'mathoverflow.net',
};

/**
 * Reads a page of a site's questions.
 * @throws UpstreamError `unknown_shape`
 */
export function parseQuestions(body: unknown, site: string): PostPage {
  return pageOf(body, (entry) => readQuestion(entry, site));
}

/**
 * Reads a page of a site's answers. With `tags`, keeps only answers to questions with one of the tags.
 * @throws UpstreamError `unknown_shape`
 */
export function parseAnswers(body: unknown, site: string, tags: readonly string[] = []): PostPage {
  const page = pageOf(body, (entry) => readAnswer(entry, site));
  if (tags.length === 0) return page;
  const tagged = new Set((itemsOf(body) ?? []).flatMap((entry) => taggedId(entry, site, tags) ?? []));
  return { ...page, items: page.items.filter(({ itemId }) => tagged.has(itemId)) };
}

function itemsOf(body: unknown): readonly unknown[] | undefined {
  return listOf(recordOf(body)?.['items']);
}

function pageOf(body: unknown, read: (entry: unknown) => Reading): PostPage {
  const items = itemsOf(body);
  if (!items) throw unknownShape('stackoverflow', 'an object with a list "items"');
  return { ...readEntries('stackoverflow', items, read), hasMore: recordOf(body)?.['has_more'] === true };
}

function taggedId(entry: unknown, site: string, tags: readonly string[]): string | undefined {
  const answer = recordOf(entry);
  const id = numberOf(answer?.['answer_id']);
  const has = listOf(answer?.['tags'])?.some(
    (tag) => typeof tag === 'string' && tags.includes(tag.toLowerCase()),
  );
  return has && id !== undefined ? idOf(site, 'answer', id) : undefined;
}

function readQuestion(entry: unknown, site: string): Reading {
  const question = recordOf(entry);
  const id = numberOf(question?.['question_id']);
  if (!question || id === undefined) return { malformed: 'no question_id' };
  const title = textOf(question['title']);
  if (title === undefined) return { malformed: 'no title' };
  return readPost(question, { site, kind: 'question', id, title, path: `questions/${id}` });
}

function readAnswer(entry: unknown, site: string): Reading {
  const answer = recordOf(entry);
  const id = numberOf(answer?.['answer_id']);
  if (!answer || id === undefined) return { malformed: 'no answer_id' };
  return readPost(answer, { site, kind: 'answer', id, title: textOf(answer['title']), path: `a/${id}` });
}

interface PostParts {
  site: string;
  kind: 'question' | 'answer';
  id: number;
  /** Escaped, as in the API; for an answer, the title of its question. */
  title: string | undefined;
  /** The path of the post on its site. */
  path: string;
}

function readPost(post: JsonRecord, { site, kind, id, title, path }: PostParts): Reading {
  const publishedAt = isoOfSeconds(post['creation_date']);
  if (publishedAt === undefined) return { malformed: 'no creation_date' };
  const owner = recordOf(post['owner']);
  const name = textOf(owner?.['display_name']);
  const author = name === undefined ? undefined : unescaped(name);
  const authorUrl = textOf(owner?.['link']);
  const plainTitle = title === undefined ? undefined : unescaped(title).trim();
  const text = htmlToText(textOf(post['body']) ?? '', { addresses: true });
  const [score, answerCount, viewCount] = ['score', 'answer_count', 'view_count'].map((count) =>
    countOf(post[count]),
  );
  const item = buildItem('stackoverflow', {
    itemId: idOf(site, kind, id),
    eventType: `stackoverflow_${kind}.created`,
    kind,
    url: textOf(post['link']) ?? `https://${domainOf(site)}/${path}`,
    title: plainTitle,
    text,
    author,
    authorUrl,
    community: site,
    publishedAt,
    engagement: { score, replies: answerCount, views: viewCount },
    body: {
      id: String(id),
      site,
      kind,
      questionId: idText(post['question_id']),
      answerId: idText(post['answer_id']),
      title: plainTitle ?? null,
      text,
      tags: (listOf(post['tags']) ?? []).flatMap((tag) => textOf(tag) ?? []),
      score: score ?? null,
      answerCount: answerCount ?? null,
      viewCount: viewCount ?? null,
      isAnswered: booleanOf(post['is_answered']),
      isAccepted: booleanOf(post['is_accepted']),
      acceptedAnswerId: idText(post['accepted_answer_id']),
      bounty: countOf(post['bounty_amount']) ?? null,
      closedAt: isoOfSeconds(post['closed_date']) ?? null,
      closedReason: textOf(post['closed_reason']) ?? null,
      editedAt: isoOfSeconds(post['last_edit_date']) ?? null,
      lastActivityAt: isoOfSeconds(post['last_activity_date']) ?? null,
      // The licence requires that the author and this licence are shown with the text.
      license: textOf(post['content_license']) ?? null,
      authorId: idText(owner?.['user_id']),
      authorType: textOf(owner?.['user_type']) ?? null,
      authorUrl: authorUrl ?? null,
      authorReputation: countOf(owner?.['reputation']) ?? null,
    },
  });
  return { item };
}

function domainOf(site: string): string {
  const main = site.slice(site.lastIndexOf('.') + 1);
  const domain = Object.hasOwn(OWN_DOMAINS, main) ? OWN_DOMAINS[main] : undefined;
  return domain === undefined ? `${site}.stackexchange.com` : site.slice(0, -main.length) + domain;
}

function idOf(site: string, kind: string, id: number): string {
  return `${site}:${kind}:${id}`;
}

function idText(value: unknown): string | null {
  const id = numberOf(value);
  return id === undefined ? null : String(id);
}

function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}
