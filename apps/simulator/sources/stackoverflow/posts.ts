import { charactersFrom, pick, seededRandom, wholeBelow } from '../../world/random.js';
import { hasPhrase, readQuery, wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';
import { escapeAttribute } from '../shared/markup.js';

const TAGS = ['node.js', 'typescript', 'rest', 'networking', 'authentication', 'docker', 'sqlite'] as const;
const HEX = '0123456789abcdef';
const LICENSE = 'CC BY-SA 4.0';
// Sites with their own domain, which also contains their sites in other languages. All other sites are below
// stackexchange.com.
const DOMAINS: Readonly<Record<string, string>> = {
  stackoverflow: 'stackoverflow.com',
  serverfault: 'serverfault.com',
  superuser: 'superuser.com',
  askubuntu: 'askubuntu.com',
};

/** Returns the site of a post, by its name in the API: the post's community. */
export function siteOf(post: SimPost): string {
  return post.community || 'stackoverflow';
}

/** Returns true if the site exists: it has posts, or it is one of the known sites. */
export function isKnownSite(site: string, posts: readonly SimPost[]): boolean {
  return Object.hasOwn(DOMAINS, site) || posts.some((post) => siteOf(post) === site);
}

/** Returns a question with every field that the simulator has. A filter selects from these fields. */
export function questionOf(post: SimPost): object {
  const answers = answersOf(post);
  const accepted = answers.find(isAccepted);
  return {
    tags: tagsOf(post),
    owner: ownerOf(post),
    is_answered: accepted !== undefined || answers.some(({ score }) => score > 20),
    view_count: 5 + post.score * 3,
    ...(accepted && { accepted_answer_id: Number(accepted.id) }),
    answer_count: answers.length,
    score: scoreOf(post),
    last_activity_date: secondsOf(newestOf(post)),
    creation_date: secondsOf(post),
    question_id: Number(post.id),
    content_license: LICENSE,
    link: linkOf(post),
    title: entities(post.title),
    body: bodyOf(post),
    body_markdown: entities(post.text),
    share_link: `https://${domainOf(post)}/q/${post.id}`,
  };
}

/** Returns an answer with every field that the simulator has. */
export function answerOf(post: SimPost): object {
  const root = post.root ?? post;
  return {
    tags: tagsOf(root),
    owner: ownerOf(post),
    is_accepted: isAccepted(post),
    score: scoreOf(post),
    last_activity_date: secondsOf(post),
    creation_date: secondsOf(post),
    answer_id: Number(post.id),
    question_id: Number(root.id),
    content_license: LICENSE,
    link: `${linkOf(root)}/${post.id}#${post.id}`,
    share_link: `https://${domainOf(post)}/a/${post.id}`,
    title: entities(root.title),
    body: bodyOf(post),
    body_markdown: entities(post.text),
  };
}

/** Returns the tags of a question: the hashtags of its text, and one of `TAGS`. */
export function tagsOf(post: SimPost): string[] {
  const own = [...post.text.matchAll(/(?<=^|\s)#([\p{L}\p{N}.+-]+)/gu)].map(([, tag = '']) =>
    tag.toLowerCase(),
  );
  return [...new Set([...own, pick(seededRandom('tag', post.id), TAGS)])];
}

/**
 * Returns a function that tests whether the search parameter `q` finds a question: each word and phrase must be in the
 * title, the body or the tags (an excluded one in none of them), and each `[tag]` must be a tag of the question.
 */
export function questionTest(q: string): (post: SimPost) => boolean {
  const tags = [...q.matchAll(/\[([^\]]+)\]/g)].map(([, tag = '']) => tag.toLowerCase());
  const clauses = readQuery(q.replace(/\[[^\]]+\]/g, ' '));
  return (post) => {
    if (!tags.every((tag) => tagsOf(post).includes(tag))) return false;
    const { title, text } = wordsOfPost(post);
    const places = [title, text, tagsOf(post).flatMap(wordsOf)];
    return clauses.every(
      ({ words, excluded }) => places.some((place) => hasPhrase(place, words)) !== excluded,
    );
  };
}

/** Returns all answers below a post: each direct answer, followed by the answers below it. */
export function answersOf(post: SimPost): SimPost[] {
  return post.replies.flatMap((reply) => [reply, ...answersOf(reply)]);
}

/** Returns the newest of a question and its answers. */
export function newestOf(question: SimPost): SimPost {
  return answersOf(question).reduce((a, b) => (b.publishedAt > a.publishedAt ? b : a), question);
}

function isAccepted(answer: SimPost): boolean {
  return (answer.root?.replies[0] ?? answer) === answer && answer.score > 30;
}

function ownerOf(post: SimPost): object {
  const { author } = post;
  const random = seededRandom('owner', author);
  const id = 1_000_000 + wholeBelow(random, 20_000_000);
  const slug = author.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const picture = `https://www.gravatar.com/avatar/${charactersFrom(`avatar ${author}`, HEX, 32)}?s=256&d=identicon&r=PG`;
  return {
    account_id: id + 3_000_000,
    reputation: 1 + wholeBelow(random, 5_000),
    user_id: id,
    user_type: 'registered',
    profile_image: picture,
    display_name: entities(author),
    link: `https://${domainOf(post)}/users/${id}/${slug}`,
  };
}

function scoreOf({ score }: SimPost): number {
  // Many posts of Stack Exchange have a negative score.
  return score - 8;
}

function secondsOf({ publishedAt }: SimPost): number {
  return Math.floor(publishedAt / 1000);
}

function domainOf(post: SimPost): string {
  const site = siteOf(post);
  const main = site.slice(site.lastIndexOf('.') + 1);
  const domain = DOMAINS[main];
  return domain === undefined ? `${site}.stackexchange.com` : site.slice(0, -main.length) + domain;
}

function linkOf(post: SimPost): string {
  const slug = wordsOf(post.title).join('-').slice(0, 80);
  return `https://${domainOf(post)}/questions/${post.id}/${slug}`;
}

function bodyOf({ text, link }: SimPost): string {
  const whole = link === '' || text.includes(link) ? text : `${text}\n\n${link}`;
  const linked = (paragraph: string) =>
    paragraph
      .split(/(https?:\/\/[^\s)]+)/)
      .map((part, i) =>
        i % 2 === 0
          ? entities(part)
          : `<a href="${entities(part)}" rel="nofollow noreferrer">${entities(part)}</a>`,
      )
      .join('');
  return whole
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${linked(paragraph)}</p>\n`)
    .join('\n');
}

/** Returns a text with entities, as in titles, names and markdown. */
function entities(text: string): string {
  return escapeAttribute(text).replaceAll("'", '&#39;');
}
