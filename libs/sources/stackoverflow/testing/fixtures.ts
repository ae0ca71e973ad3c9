import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: questions and answers in the current format, and an API with numbered pages.

/** Returns a question, as returned with the filter `withbody`. */
export function question(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  const id = questionId(n);
  return {
    tags: ['lighting', 'led'],
    owner: {
      reputation: 135,
      user_id: 7,
      user_type: 'registered',
      display_name: 'Ada &amp; co',
      link: 'https://stackoverflow.com/users/7/ada',
    },
    is_answered: false,
    view_count: 33,
    answer_count: 2,
    score: 5,
    last_activity_date: at.getTime() / 1000,
    creation_date: at.getTime() / 1000,
    question_id: id,
    content_license: 'CC BY-SA 4.0',
    link: `https://stackoverflow.com/questions/${id}/why-does-my-lamp`,
    title: `Why does my &quot;lamp&quot; number ${n} blink?`,
    body: `<p>It is <strong>number ${n}</strong>.</p>`,
    ...more,
  };
}

/** Returns an answer, as returned with the connector's own filter. */
export function answer(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  const id = 8_000_000 - n;
  return {
    tags: ['lighting'],
    owner: { user_type: 'does_not_exist', display_name: 'user7' },
    is_accepted: false,
    score: 1,
    last_activity_date: at.getTime() / 1000,
    creation_date: at.getTime() / 1000,
    answer_id: id,
    question_id: questionId(1),
    content_license: 'CC BY-SA 4.0',
    link: `https://stackoverflow.com/questions/${questionId(1)}/why-does-my-lamp/${id}#${id}`,
    title: 'Why does my &quot;lamp&quot; number 1 blink?',
    body: '<p>See <a href="https://lamps.example/1">this page</a>.</p>',
    ...more,
  };
}

/** Returns the id of the invented question `n`. */
export function questionId(n: number): number {
  return 9_000_000 - n;
}

/** Returns a response of the API with these entries. */
export function wrapped(items: readonly unknown[], more: Record<string, unknown> = {}): FakeAnswer {
  return { body: { items, has_more: false, quota_max: 300, quota_remaining: 299, ...more } };
}

/** Returns the response to a search among these questions, which have no answers. */
export function serveQuestions(posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const { pathname, searchParams } = request.at;
  if (pathname.endsWith('/answers')) return wrapped([]);
  const [page, size] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('pagesize') ?? 100)];
  const from = Number(searchParams.get('fromdate') ?? 0) * 1000;
  const found = posts.filter(({ at }) => at.getTime() >= from);
  const items = found.slice((page - 1) * size, page * size).map(({ n, at }) => question(n, at));
  return wrapped(items, { has_more: found.length > page * size });
}

/** Returns the response to the creation of a filter; undefined for every other request. */
export function serveFilter(request: FakeRequest): FakeAnswer | undefined {
  if (!request.at.pathname.endsWith('/filters/create')) return undefined;
  return wrapped([{ filter: '!own', filter_type: 'safe', included_fields: [] }]);
}
