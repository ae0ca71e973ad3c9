import type { Check, Item, MatchedItem, SubjectRole } from '#contracts';
import type { WatchSettings } from '../handlers/treatment.js';
import type { ReadRequest, ReadSubject } from '#readers';

/** An item that a check found and that is not muted, with everything that its readings depend on. */
export interface Readable {
  eventId: string;
  check: Check;
  matched: MatchedItem;
  item: Item;
  settings: WatchSettings;
}

/**
 * Returns what the readings of a watch's items are about: the names, their role, and the description that the user
 * gave.
 */
export function subjectOf({ definition, terms }: WatchSettings): ReadSubject {
  return {
    names: [...new Set([...(definition ? [definition.name] : []), ...terms])],
    role: (definition?.subjectRole || 'own') as SubjectRole,
    ...(definition?.aiPrompt ? { about: definition.aiPrompt } : {}),
  };
}

/** Returns the request for the local reading of an item. */
export function requestOf({ item, matched, settings }: Readable): ReadRequest {
  return {
    item: {
      source: item.source,
      kind: item.kind,
      title: item.title,
      text: item.text,
      titleOfParent: item.titleOfParent,
      ...(item.lang !== undefined && { lang: item.lang }),
      ...(item.community !== undefined && { community: item.community }),
      url: item.url,
      terms: [...new Set(matched.matches.map(({ term }) => term))],
    },
    subject: subjectOf(settings),
    analysis: settings.analysis,
    embed: true,
  };
}
