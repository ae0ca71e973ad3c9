import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import type { ItemParts } from '../shared/item.js';

type MediaParts = NonNullable<ItemParts['media']>;

const IMAGE = /\.(jpe?g|png|gif|webp)(\?|$)/i;

/** Returns the images, the video or the link of a post. */
export function mediaOf(post: JsonRecord): MediaParts {
  const gallery = galleryOf(post);
  if (gallery.length > 0) return gallery;
  const video = textOf(recordOf(recordOf(post['media'])?.['reddit_video'])?.['fallback_url']);
  if (video !== undefined) return [{ url: video, type: 'video' }];
  const link = linkOf(post);
  if (link === undefined) return [];
  return [{ url: link, type: IMAGE.test(link) || post['post_hint'] === 'image' ? 'image' : 'link' }];
}

/** Returns the target of a link post; undefined for a text post. */
export function linkOf(post: JsonRecord): string | undefined {
  const url = textOf(post['url']);
  // The link of a crosspost is a path. The link of a gallery is the address of the gallery.
  if (url === undefined || post['is_self'] === true) return undefined;
  return url.startsWith('/') ? `https://www.reddit.com${url}` : url;
}

function galleryOf(post: JsonRecord): MediaParts {
  const metadata = recordOf(post['media_metadata']);
  const order = listOf(recordOf(post['gallery_data'])?.['items']) ?? [];
  return order.flatMap((entry) => {
    const id = textOf(recordOf(entry)?.['media_id']);
    const source = recordOf(recordOf(id === undefined ? undefined : metadata?.[id])?.['s']);
    const url = textOf(source?.['u']) ?? textOf(source?.['gif']);
    return url === undefined ? [] : [{ url, type: 'image' as const }];
  });
}
