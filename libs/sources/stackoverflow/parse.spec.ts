import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseAnswers, parseQuestions } from './index.js';
import { answer, question } from './testing/fixtures.js';

describe('questions and answers of Stack Exchange', () => {
  const asked = (more: Record<string, unknown> = {}) =>
    parseQuestions({ items: [question(1, SPEC_NOW, more)] }, 'stackoverflow').items[0];
  const answered = (more: Record<string, unknown> = {}) =>
    parseAnswers({ items: [answer(1, SPEC_NOW, more)] }, 'stackoverflow').items[0];
  const bodyOf = (item: ReturnType<typeof asked>) =>
    JSON.parse(item?.bodyJson ?? '{}') as Record<string, unknown>;

  it('are converted to items: a question', () => {
    expect(asked()).toMatchObject({
      itemId: 'stackoverflow:question:8999999',
      eventType: 'stackoverflow_question.created',
      kind: 'question',
      url: 'https://stackoverflow.com/questions/8999999/why-does-my-lamp',
      title: 'Why does my "lamp" number 1 blink?',
      text: 'It is number 1.',
      author: 'Ada & co',
      authorUrl: 'https://stackoverflow.com/users/7/ada',
      community: 'stackoverflow',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { score: 5, replies: 2, views: 33 },
    });
    expect(bodyOf(asked())).toEqual({
      id: '8999999',
      source: 'stackoverflow',
      url: 'https://stackoverflow.com/questions/8999999/why-does-my-lamp',
      author: 'Ada & co',
      publishedAt: '2026-03-04T12:00:00.000Z',
      site: 'stackoverflow',
      kind: 'question',
      questionId: '8999999',
      answerId: null,
      title: 'Why does my "lamp" number 1 blink?',
      text: 'It is number 1.',
      tags: ['lighting', 'led'],
      score: 5,
      answerCount: 2,
      viewCount: 33,
      isAnswered: false,
      isAccepted: null,
      acceptedAnswerId: null,
      bounty: null,
      closedAt: null,
      closedReason: null,
      editedAt: null,
      lastActivityAt: '2026-03-04T12:00:00.000Z',
      license: 'CC BY-SA 4.0',
      authorId: '7',
      authorType: 'registered',
      authorUrl: 'https://stackoverflow.com/users/7/ada',
      authorReputation: 135,
    });
  });

  it('are converted to items with the same keys, and an answer has the title of its question', () => {
    expect(answered()).toMatchObject({
      itemId: 'stackoverflow:answer:7999999',
      eventType: 'stackoverflow_answer.created',
      kind: 'answer',
      title: 'Why does my "lamp" number 1 blink?',
      text: 'See this page (https://lamps.example/1).',
      author: 'user7',
      engagement: { score: 1 },
    });
    expect(Object.keys(bodyOf(answered())).sort()).toEqual(Object.keys(bodyOf(asked())).sort());
    expect(bodyOf(answered())).toMatchObject({
      questionId: '8999999',
      answerId: '7999999',
      isAccepted: false,
      isAnswered: null,
      authorId: null,
      authorType: 'does_not_exist',
      license: 'CC BY-SA 4.0',
    });
  });

  it('have an address with the number of the answer if an answer has no title and no link', () => {
    const item = answered({ title: undefined, link: undefined });
    expect([item?.title, item?.url]).toEqual(['', 'https://stackoverflow.com/a/7999999']);
  });

  it.each([
    ['mathoverflow', 'https://mathoverflow.net/a/7999999'],
    ['askubuntu', 'https://askubuntu.com/a/7999999'],
    ['unix', 'https://unix.stackexchange.com/a/7999999'],
    ['unix.meta', 'https://unix.meta.stackexchange.com/a/7999999'],
    ['meta', 'https://meta.stackexchange.com/a/7999999'],
    ['es.stackoverflow', 'https://es.stackoverflow.com/a/7999999'],
    ['pt.meta.stackoverflow', 'https://pt.meta.stackoverflow.com/a/7999999'],
    ['meta.serverfault', 'https://meta.serverfault.com/a/7999999'],
    ['meta.mathoverflow', 'https://meta.mathoverflow.net/a/7999999'],
  ])('have an address of their site if they have no link (site %s, address %s)', (site, url) => {
    const [item] = parseAnswers({ items: [answer(1, SPEC_NOW, { link: undefined })] }, site).items;
    expect([item?.url, item?.itemId]).toEqual([url, `${site}:answer:7999999`]);
  });

  it('have titles and names that are unescaped once', () => {
    const owner = { display_name: 'a&amp;lt;b' };
    const item = asked({ title: '&amp;lt;b&amp;gt; &#39;x&#39; &lt;i&gt;', owner });
    expect([item?.title, item?.author]).toEqual(["&lt;b&gt; 'x' <i>", 'a&lt;b']);
  });

  it('keep the lines of code', () => {
    const body = '<p>Try</p>\n\n<pre><code>if (a &lt; b) {\n  lamp();\n}\n</code></pre>\n';
    expect(asked({ body })?.text).toBe('Try\n\nif (a < b) {\n  lamp();\n}');
  });

  it('are read even if licence, body and owner are missing, as in 2013', () => {
    const item = asked({ content_license: undefined, body: undefined, owner: undefined });
    expect(item).toMatchObject({ text: '' });
    expect(item?.author).toBeUndefined();
    expect(bodyOf(item)).toMatchObject({ license: null, author: null, authorReputation: null });
  });

  it('contain the time and the reason for closing, and the bounty', () => {
    const more = {
      closed_date: 1772625600,
      closed_reason: 'Duplicate',
      bounty_amount: 50,
      accepted_answer_id: 3,
    };
    expect(bodyOf(asked(more))).toMatchObject({
      closedAt: '2026-03-04T12:00:00.000Z',
      closedReason: 'Duplicate',
      bounty: 50,
      acceptedAnswerId: '3',
    });
  });

  it('keep their id and date if they are edited', () => {
    const edited = asked({ title: 'Other words', last_edit_date: 1772625700 });
    expect([edited?.itemId, edited?.publishedAt]).toEqual([
      'stackoverflow:question:8999999',
      '2026-03-04T12:00:00.000Z',
    ]);
  });

  it('are left out and counted if they cannot be read, while the other items are kept', () => {
    const { items, warnings } = parseQuestions(
      { items: [question(1, SPEC_NOW), {}, question(2, SPEC_NOW, { creation_date: 'soon' })] },
      'stackoverflow',
    );
    expect(items.length).toBe(1);
    expect(warnings).toEqual([
      'stackoverflow: 1 of 3 items could not be read: no question_id',
      'stackoverflow: 1 of 3 items could not be read: no creation_date',
    ]);
  });
});
