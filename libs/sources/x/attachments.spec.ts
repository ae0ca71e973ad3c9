import { bodyOf, one } from './testing/tweet.js';

describe('tweets of X with attachments', () => {
  it('contain a card of a link, with the title of its page', () => {
    const urls = [
      { url: 'https://t.co/aaaaaaaaa1', expanded_url: 'https://x.com/Ada_Lamps/status/1/photo/1' },
      {
        url: 'https://t.co/bbbbbbbbb2',
        expanded_url: 'https://short.example/b',
        unwound_url: 'https://lamps.example/b',
        title: 'Lamps &amp; light',
        description: 'All of them',
        images: [
          { url: 'https://pbs.example/large.jpg', width: 800, height: 600 },
          { url: 'https://pbs.example/small.jpg', width: 150, height: 150 },
        ],
      },
    ];
    expect(bodyOf({ entities: { urls } })['card']).toEqual({
      type: null,
      url: 'https://lamps.example/b',
      title: 'Lamps & light',
      description: 'All of them',
      imageUrl: 'https://pbs.example/large.jpg',
    });
  });

  it('contain pictures, and videos with the address of their best file', () => {
    const media = [
      { media_key: '3_1', type: 'photo', url: 'https://pbs.example/1.jpg', width: 800, height: 600 },
      {
        media_key: '7_2',
        type: 'video',
        preview_image_url: 'https://pbs.example/2.jpg',
        width: 1280,
        height: 720,
        duration_ms: 7_000,
        variants: [
          { content_type: 'application/x-mpegURL', url: 'https://video.example/2.m3u8' },
          { content_type: 'video/mp4', bit_rate: 256_000, url: 'https://video.example/2-low.mp4' },
          { content_type: 'video/mp4', bit_rate: 832_000, url: 'https://video.example/2-high.mp4' },
        ],
      },
    ];
    const attachments = { media_keys: ['3_1', '7_2', '3_gone'] };
    expect(one({ attachments }, { media })?.media.map(({ type, url }) => [type, url])).toEqual([
      ['image', 'https://pbs.example/1.jpg'],
      ['video', 'https://video.example/2-high.mp4'],
    ]);
    expect(bodyOf({ attachments }, { media })['media']).toEqual([
      {
        url: 'https://pbs.example/1.jpg',
        previewUrl: null,
        width: 800,
        height: 600,
        durationMs: null,
        variants: [],
      },
      {
        url: 'https://video.example/2-high.mp4',
        previewUrl: 'https://pbs.example/2.jpg',
        width: 1280,
        height: 720,
        durationMs: 7_000,
        variants: [
          { url: 'https://video.example/2.m3u8', contentType: 'application/x-mpegURL', bitrate: null },
          { url: 'https://video.example/2-low.mp4', contentType: 'video/mp4', bitrate: 256_000 },
          { url: 'https://video.example/2-high.mp4', contentType: 'video/mp4', bitrate: 832_000 },
        ],
      },
    ]);
  });

  it('contain the preview picture of a video without files', () => {
    const media = [{ media_key: '7_2', type: 'video', preview_image_url: 'https://pbs.example/2.jpg' }];
    const item = one({ attachments: { media_keys: ['7_2'] } }, { media });
    expect(item?.media).toMatchObject([{ type: 'image', url: 'https://pbs.example/2.jpg' }]);
  });

  it.each([
    ['open', false],
    ['closed', true],
  ])('contain their poll: if the poll is %s, `countsAreFinal` is %s', (voting_status, countsAreFinal) => {
    const polls = [
      {
        id: '9',
        voting_status,
        end_datetime: '2026-03-05T12:00:00.000Z',
        options: [
          { position: 1, label: 'On', votes: 7 },
          { position: 2, label: 'Off', votes: 0 },
        ],
      },
    ];
    expect(bodyOf({ attachments: { poll_ids: ['9'] } }, { polls })['poll']).toEqual({
      choices: [
        { label: 'On', votes: 7 },
        { label: 'Off', votes: 0 },
      ],
      endAt: '2026-03-05T12:00:00.000Z',
      countsAreFinal,
    });
  });
});
