import { readFileSync } from 'node:fs';
import { prepareItem } from '../reader.js';
import type { ReadRequest } from '../reading.js';
import { observe } from '../relevance/signals.js';
import { relevanceSubject } from '../relevance/subject.js';
import type { RelevanceExample } from './train-relevance.js';

/** Posts with ambiguous names, written for this project. */
const POSTS = new URL('../../../../bench/readings/relevance.tsv', import.meta.url);

/** Returns the observed signals of each post in a set, and whether the post is relevant. */
export function observedPosts(ordinaryWords: ReadonlySet<string>, set: string): RelevanceExample[] {
  return readFileSync(POSTS, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .filter(([, rowSet]) => rowSet === set)
    .map(([name = '', , relevant, about = '', text = '']) => {
      const subject = { names: [name], role: 'own' as const, ...(about !== '' && { about }) };
      const item = {
        source: 'x',
        kind: 'post',
        title: '',
        text,
        titleOfParent: false,
        url: '',
        terms: [name],
      };
      const request: ReadRequest = { item, subject, analysis: false, embed: false };
      const prepared = prepareItem(request, relevanceSubject(subject, ordinaryWords));
      return { observations: observe(prepared, prepared.subject), relevant: relevant === 'y' };
    });
}
