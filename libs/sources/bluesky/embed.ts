import type { ItemParts } from '../shared/item.js';
import { listOf, recordOf, textOf } from '../shared/shape.js';

/** The embedded content of a post. */
export interface Embedded {
  media: NonNullable<ItemParts['media']>;
  images: { url: string; alt: string }[];
  link: { url: string; title: string; description: string } | null;
  video: { url: string; alt: string } | null;
  /** Address (at://…) of the quoted post, list or feed. */
  quoted: string | null;
}

const NOTHING: Embedded = { media: [], images: [], link: null, video: null, quoted: null };

/** Reads the embed of a post view. Ignores unknown and missing content. Reads only the address of quoted content. */
export function embeddedOf(value: unknown): Embedded {
  const embed = recordOf(value);
  switch (embed?.['$type']) {
    case 'app.bsky.embed.images#view':
      return imagesOf(embed['images']);
    case 'app.bsky.embed.external#view':
      return externalOf(embed['external']);
    case 'app.bsky.embed.video#view':
      return videoOf(embed['playlist'], embed['alt']);
    case 'app.bsky.embed.record#view':
      return { ...NOTHING, quoted: textOf(recordOf(embed['record'])?.['uri']) ?? null };
    case 'app.bsky.embed.recordWithMedia#view': {
      const record = recordOf(recordOf(embed['record'])?.['record']);
      return { ...embeddedOf(embed['media']), quoted: textOf(record?.['uri']) ?? null };
    }
    default:
      return NOTHING;
  }
}

function imagesOf(value: unknown): Embedded {
  const images = (listOf(value) ?? []).flatMap((entry) => {
    const image = recordOf(entry);
    const url = textOf(image?.['fullsize']) ?? textOf(image?.['thumb']);
    return url === undefined ? [] : [{ url, alt: textOf(image?.['alt']) ?? '' }];
  });
  return { ...NOTHING, images, media: images.map(({ url }) => ({ url, type: 'image' as const })) };
}

function externalOf(value: unknown): Embedded {
  const external = recordOf(value);
  const url = textOf(external?.['uri']);
  if (!external || url === undefined) return NOTHING;
  const link = {
    url,
    title: textOf(external['title']) ?? '',
    description: textOf(external['description']) ?? '',
  };
  return { ...NOTHING, link, media: [{ url, type: 'link' }] };
}

function videoOf(playlist: unknown, alt: unknown): Embedded {
  const url = textOf(playlist);
  if (url === undefined) return NOTHING;
  return { ...NOTHING, video: { url, alt: textOf(alt) ?? '' }, media: [{ url, type: 'video' }] };
}
