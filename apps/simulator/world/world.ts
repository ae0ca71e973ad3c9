import type { Clock } from '#kernel';
import { SOURCE_IDS, type SourceId } from '#contracts';
import { compose, personFrom } from './phrases.js';
import type { PostKind, SimPost } from './post.js';
import { pick, seededRandom, wholeBelow } from './random.js';
import type { Random } from './random.js';
import { TRAITS } from './traits.js';

/** The fields of a post that a test can set. The other fields are invented. */
export interface PostInput {
  text: string;
  title?: string | undefined;
  author?: string | undefined;
  /** ISO 8601; default: now. */
  publishedAt?: string | undefined;
  community?: string | undefined;
  lang?: string | undefined;
  kind?: PostKind | undefined;
  link?: string | undefined;
  priceCents?: number | undefined;
  currency?: string | undefined;
  promoted?: boolean | undefined;
}

/** The fields of a post that can change. */
export type PostChange = Partial<Pick<SimPost, 'title' | 'text' | 'priceCents' | 'currency' | 'score'>>;

/** The options of a world. */
export interface WorldOptions {
  seed: number;
  /** New posts of each source per second: one number for every source, or a number by source (0 for none). */
  ratePerSecond: number | Partial<Record<SourceId, number>>;
  clock: Clock;
  /** Posts of each source before the start, spread over `historyHours`. */
  historyPosts: number;
  historyHours: number;
  /** Number of the newest posts of each source that are kept; default 50,000. */
  keptPosts?: number | undefined;
}

// This is enough for any listing of the upstreams (1,000 items), and limits the memory of a run of several days.
const KEPT_POSTS = 50_000;

/**
 * All published posts. Time changes only with the clock: posts that are due are created at the next access. The same
 * options and the same start give the same invented posts at the same times, if no test adds or removes posts.
 */
export class World {
  readonly startedAt: number;
  private readonly bySource = new Map<SourceId, SimPost[]>();
  private readonly byId = new Map<string, SimPost>();
  private readonly numbers = new Map<SourceId, number>();
  /** Number of posts invented since the start. The time of the next post is computed from it. */
  private readonly arrived = new Map<SourceId, number>();

  constructor(private readonly options: WorldOptions) {
    this.startedAt = options.clock.now().getTime();
    // A world that starts later must not use the ids of an earlier world for other posts.
    const base = Math.max(0, Math.floor(this.startedAt / 1000) - 1_700_000_000) * 20 + 1_000_000;
    for (const source of SOURCE_IDS) {
      this.bySource.set(source, []);
      this.numbers.set(source, base);
      this.arrived.set(source, 0);
      this.writeHistory(source);
    }
  }

  /** Returns all kept posts of one source up to now, oldest first. Read-only. */
  posts(source: SourceId): readonly SimPost[] {
    this.advance(source);
    return this.bySource.get(source)!;
  }

  /** Returns the post with this id on the source; undefined if there is none, or if it was removed. */
  find(source: SourceId, id: string): SimPost | undefined {
    this.advance(source);
    return this.byId.get(`${source} ${id}`);
  }

  /** Publishes a test's post. */
  publish(source: SourceId, input: PostInput): SimPost {
    this.advance(source);
    const at =
      input.publishedAt === undefined ? this.options.clock.now().getTime() : Date.parse(input.publishedAt);
    const random = seededRandom(this.options.seed, source, 'given', this.numbers.get(source)!);
    const post = this.draft(source, at, random, input);
    const { rootKind, answerKind } = TRAITS[source];
    if (post.kind === answerKind && post.kind !== rootKind) this.attach(post, random);
    return this.enter(post);
  }

  /** Edits a post; its id does not change. */
  change(source: SourceId, id: string, change: PostChange): SimPost | undefined {
    const post = this.find(source, id);
    return post && Object.assign(post, change);
  }

  /** Removes a post. */
  remove(source: SourceId, id: string): SimPost | undefined {
    const post = this.find(source, id);
    if (!post) return undefined;
    const posts = this.bySource.get(source)!;
    posts.splice(posts.indexOf(post), 1);
    this.byId.delete(`${source} ${id}`);
    const siblings = post.parent?.replies;
    if (siblings) siblings.splice(siblings.indexOf(post), 1);
    return post;
  }

  /** Removes every post of a source. */
  clear(source: SourceId): void {
    for (const { id } of this.posts(source)) this.byId.delete(`${source} ${id}`);
    this.bySource.set(source, []);
  }

  private advance(source: SourceId): void {
    const { ratePerSecond, clock, seed } = this.options;
    const rate = typeof ratePerSecond === 'number' ? ratePerSecond : (ratePerSecond[source] ?? 0);
    if (rate <= 0) return;
    const now = clock.now().getTime();
    for (let count = this.arrived.get(source)!; ; count++) {
      const jitter = seededRandom(seed, source, 'when', count)();
      const due = this.startedAt + ((count + jitter) / rate) * 1000;
      if (due > now) return;
      this.arrived.set(source, count + 1);
      this.invent(source, Math.floor(due), seededRandom(seed, source, 'what', count));
    }
  }

  private writeHistory(source: SourceId): void {
    const { historyPosts, historyHours, seed } = this.options;
    const step = (historyHours * 3_600_000) / Math.max(1, historyPosts);
    for (let back = historyPosts; back > 0; back--) {
      this.invent(
        source,
        Math.floor(this.startedAt - back * step),
        seededRandom(seed, source, 'history', back),
      );
    }
  }

  private invent(source: SourceId, at: number, random: Random): SimPost {
    const { title, text, lang, link } = compose(random);
    const { rootKind, otherKinds, answerKind, answerShare = 0, linkOrText, promotedShare } = TRAITS[source];
    const isAnswer = random() < answerShare;
    const isLink = !isAnswer && random() < 0.5;
    const rooted = otherKinds && random() < 0.4 ? pick(random, otherKinds) : rootKind;
    const kind = (isAnswer && answerKind) || rooted;
    const titleOnly = isLink && linkOrText === true;
    const promoted = promotedShare !== undefined && random() < promotedShare;
    const input = { title, text: titleOnly ? '' : text, lang, kind, link: isLink ? link : '', promoted };
    const post = this.draft(source, at, random, input);
    if (isAnswer) this.attach(post, random);
    return this.enter(post);
  }

  /** Returns a post with the given fields, and invented values for the other fields. */
  private draft(source: SourceId, at: number, random: Random, input: PostInput): SimPost {
    const traits = TRAITS[source];
    const { communities = [''] } = traits;
    const person = personFrom(random);
    const handle = traits.handleOf?.(person.handle) ?? person.handle;
    const invented = communities.length > 1 ? pick(random, communities) : (communities[0] ?? '');
    const community = input.community ?? invented;
    const kind = input.kind ?? traits.rootKind;
    const isAnswer = kind === traits.answerKind && kind !== traits.rootKind;
    const number = this.numbers.get(source)! + 1;
    this.numbers.set(source, number);
    return {
      source,
      number,
      id: '',
      kind,
      title: isAnswer || !traits.hasTitle ? '' : (input.title ?? 'Untitled'),
      text: input.text,
      author: input.author ?? handle,
      authorName: input.author ?? person.name,
      community,
      lang: input.lang ?? '',
      link: isAnswer ? '' : (input.link ?? ''),
      publishedAt: at,
      score: 1 + wholeBelow(random, 40),
      priceCents: input.priceCents ?? (traits.priced ? 100 * (1 + wholeBelow(random, 80)) : 0),
      currency: input.currency ?? traits.currencies?.[community] ?? 'EUR',
      promoted: input.promoted ?? false,
      replies: [],
    };
  }

  /**
   * Attaches a comment to one of the last eight posts of its community, or to a reply to that post. If the community has
   * no post, an invented post is added first.
   */
  private attach(post: SimPost, random: Random): void {
    const roots: SimPost[] = [];
    const posts = this.bySource.get(post.source)!;
    for (let i = posts.length - 1; i >= 0 && roots.length < 8; i--) {
      const other = posts[i]!;
      if (!other.root && other.community === post.community) roots.push(other);
    }
    const root = roots.length > 0 ? pick(random, roots) : this.openThread(post, random);
    const parent = root.replies.length > 0 && random() < 0.3 ? pick(random, root.replies) : root;
    post.root = root;
    post.parent = parent;
    parent.replies.push(post);
  }

  private openThread(below: SimPost, random: Random): SimPost {
    const input = { title: 'Open thread', text: 'What are you working on?', community: below.community };
    return this.enter(this.draft(below.source, below.publishedAt - 60_000, random, input));
  }

  private enter(post: SimPost): SimPost {
    const posts = this.bySource.get(post.source)!;
    post.id = TRAITS[post.source].identify(post);
    let at = posts.length;
    while (at > 0 && posts[at - 1]!.publishedAt > post.publishedAt) at -= 1;
    posts.splice(at, 0, post);
    this.byId.set(`${post.source} ${post.id}`, post);
    const { keptPosts = KEPT_POSTS } = this.options;
    if (posts.length > keptPosts) {
      for (const gone of posts.splice(0, posts.length - keptPosts))
        this.byId.delete(`${gone.source} ${gone.id}`);
    }
    return post;
  }
}
