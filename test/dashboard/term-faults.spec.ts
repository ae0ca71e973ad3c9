import { emptyDraft, termFaultsOf } from '../../apps/dashboard/pages/keyword-editor/draft.js';

const draftWith = (terms: string[], query: string) => {
  const draft = emptyDraft();
  return { ...draft, globalCriteria: { ...draft.globalCriteria, terms, query } };
};
const MESSAGE = 'Enter at least two terms, or leave “And all of this” empty';

describe('the terms in the form', () => {
  it('have a fault if there is one term and a query', () => {
    expect(termFaultsOf(draftWith(['acme'], 'rocket'))).toEqual([
      { path: 'globalCriteria.terms', message: MESSAGE },
    ]);
  });

  it.each<[string, string[], string]>([
    ['one term without a query', ['acme'], ' '],
    ['two terms and a query', ['acme', 'globex'], 'rocket'],
    ['only a query', [], 'rocket'],
  ])('have no fault if there are %s', (_, terms, query) => {
    expect(termFaultsOf(draftWith(terms, query))).toEqual([]);
  });

  it('have a fault with the path of a search if this search has one term and a query', () => {
    const overrides = { terms: ['acme'], query: 'rocket' };
    const searches = [{ overrides: { terms: [] } }, { overrides }];
    const sources = [{ source: 'hackernews' as const, enabled: true, searches }];
    expect(termFaultsOf({ ...emptyDraft(), sources })).toEqual([
      { path: 'sources.0.searches.1.overrides.terms', message: MESSAGE },
    ]);
  });
});
