import type { SourceId } from '#contracts';

/** What a search on a source needs beside its query, so that it finds what is published here. */
export interface SearchHere {
  market?: string;
  filters?: Record<string, unknown>;
  /** Where a post has to stand, so that the search reads it. */
  community?: string;
}

/** The search of tests and of the demo on each source. `url`: the simulator's. */
export function searchOf(source: SourceId, url: string): SearchHere {
  switch (source) {
    case 'rss':
      return { filters: { feed_urls: [`${url}/feeds/mine.atom`] }, community: 'mine' };
    case 'ai_answers':
      return {
        filters: { prompt: 'Which kettle is the best?', brands: ['Zephyr Kettle'], engines: ['openai'] },
        community: 'openai',
      };
    case 'vinted':
      return { market: 'fr', community: 'fr' };
    default:
      return {};
  }
}
