import { isoOfText, listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import type { Includes } from './includes.js';

/** A picture, a video or an animation of a tweet. A field is null if X does not send it. */
export type Media = {
  /** If X sends no address (for example for a video): the file with the highest bitrate, or else the first file. */
  url: string | null;
  previewUrl: string | null;
  width: number | null;
  height: number | null;
  durationMs: number | null;
  /** The files of a video. A playlist has no bitrate. */
  variants: { url: string; contentType: string | null; bitrate: number | null }[];
};

/** The poll of a tweet. */
export type Poll = {
  choices: { label: string; votes: number | null }[];
  endAt: string | null;
  countsAreFinal: boolean;
};

/** Returns pictures and videos of a tweet, in order, if the response includes them. */
export function mediaOf(tweet: JsonRecord, includes: Includes): Media[] {
  return mediaRecords(tweet, includes).map((media) => {
    const variants = variantsOf(media);
    const best = variants
      .filter(({ bitrate }) => bitrate !== null)
      .sort((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))[0];
    return {
      url: textOf(media['url']) ?? best?.url ?? variants[0]?.url ?? null,
      previewUrl: textOf(media['preview_image_url']) ?? null,
      width: numberOf(media['width']) ?? null,
      height: numberOf(media['height']) ?? null,
      durationMs: numberOf(media['duration_ms']) ?? null,
      variants,
    };
  });
}

/** Returns pictures and videos of a tweet, in the form that the items of all sources use. */
export function mentionMediaOf(
  tweet: JsonRecord,
  includes: Includes,
): { url: string; type: 'image' | 'video' }[] {
  const records = mediaRecords(tweet, includes);
  return mediaOf(tweet, includes).flatMap(({ url, previewUrl }, n) => {
    if (url === null) return previewUrl === null ? [] : [{ url: previewUrl, type: 'image' as const }];
    return [{ url, type: records[n]?.['type'] === 'photo' ? ('image' as const) : ('video' as const) }];
  });
}

/** Returns the poll of a tweet; null if there is no poll or the response does not include it. */
export function pollOf(tweet: JsonRecord, includes: Includes): Poll | null {
  const id = textOf(listOf(recordOf(tweet['attachments'])?.['poll_ids'])?.[0]);
  const poll = id === undefined ? undefined : includes.polls.get(id);
  if (!poll) return null;
  return {
    choices: (listOf(poll['options']) ?? []).map((entry) => {
      const option = recordOf(entry);
      return { label: textOf(option?.['label']) ?? '', votes: numberOf(option?.['votes']) ?? null };
    }),
    endAt: isoOfText(poll['end_datetime']) ?? null,
    countsAreFinal: poll['voting_status'] === 'closed',
  };
}

function mediaRecords(tweet: JsonRecord, includes: Includes): JsonRecord[] {
  const keys = listOf(recordOf(tweet['attachments'])?.['media_keys']) ?? [];
  return keys.map((key) => includes.media.get(textOf(key) ?? '')).filter((media) => media !== undefined);
}

function variantsOf(media: JsonRecord): Media['variants'] {
  return (listOf(media['variants']) ?? []).flatMap((entry) => {
    const variant = recordOf(entry);
    const url = textOf(variant?.['url']);
    if (!variant || url === undefined) return [];
    const contentType = textOf(variant['content_type']) ?? null;
    return [{ url, contentType, bitrate: numberOf(variant['bit_rate']) ?? null }];
  });
}
