import { create } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import {
  BucketSchema,
  creditsPerReading,
  ReadingRecordSchema,
  type BucketPreset,
  type ItemReading,
} from '#contracts';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { localBucket, type FoundBucket } from '../domain/local-bucket.js';
import { subjectOf, type Readable } from './readable.js';
import type { Story } from './stories.js';

/** A bucket that was found for an item of a keyword. */
export interface OwnedBucket extends FoundBucket {
  ownerId: string;
}

/** Finds the buckets of items by rules. */
@Injectable()
export class ItemBuckets {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Adds buckets to the readings of items whose keyword has a bucket preset. */
  async fill(
    kept: readonly { item: Readable; reading: ItemReading }[],
    stories: ReadonlyMap<string, Story>,
  ): Promise<void> {
    const found = kept.flatMap(({ item, reading }) => {
      const bucket = bucketOf(item, reading, stories.get(item.eventId));
      return bucket ? [{ reading, bucket: { ...bucket, ownerId: item.check.keywordId } }] : [];
    });
    const labels = await this.labels(found.map(({ bucket }) => bucket));
    found.forEach(({ reading, bucket: { key } }, index) => {
      reading.bucket = create(BucketSchema, { key, label: labels[index]! });
      reading.records.push(
        create(ReadingRecordSchema, {
          kind: 'bucket',
          reader: 'local',
          model: 'rules',
          version: '1',
          costCredits: creditsPerReading('bucket'),
          detail: key,
        }),
      );
    });
  }

  /** Returns the label of each bucket: the label with which its key was first stored. */
  async labels(buckets: readonly OwnedBucket[]): Promise<string[]> {
    if (buckets.length === 0) return [];
    const columns = [
      buckets.map(({ ownerId }) => ownerId),
      buckets.map(({ key }) => key),
      buckets.map(({ label }) => label),
    ];
    await this.database.query(
      `INSERT INTO buckets (owner_id, key, label)
       SELECT DISTINCT ON (o, k) o, k, l FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS n (o, k, l, i)
       WHERE EXISTS (SELECT 1 FROM keywords k WHERE k.keyword_id = o)
       ORDER BY o, k, i ON CONFLICT DO NOTHING`,
      columns,
    );
    const rows: { owner_id: string; key: string; label: string }[] = await this.database.query(
      `SELECT owner_id, key, label FROM buckets
       WHERE (owner_id, key) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
      columns.slice(0, 2),
    );
    const labels = new Map(rows.map(({ owner_id, key, label }) => [`${owner_id} ${key}`, label]));
    return buckets.map(({ ownerId, key, label }) => labels.get(`${ownerId} ${key}`) ?? label);
  }
}

function bucketOf(item: Readable, reading: ItemReading, story: Story | undefined): FoundBucket | undefined {
  const { definition } = item.settings;
  if (!definition?.aiEnabled || !definition.aiPreset) return undefined;
  return localBucket(definition.aiPreset as BucketPreset, {
    item: item.item,
    sentiment: reading.analysis?.sentiment ?? '',
    names: subjectOf(item.settings).names,
    story,
  });
}
