import type { SourceId } from '#contracts';

/** The settings that a search needs, in addition to its query, to find posts of the simulator. */
export interface SimulatedSearch {
  market?: string;
  filters?: Record<string, unknown>;
  /** The search finds only posts of this community. */
  community?: string;
}

/** Returns the settings of the search that tests use for the source. `url`: the simulator's address. */
export function searchOf(source: SourceId, url: string): SimulatedSearch {
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
