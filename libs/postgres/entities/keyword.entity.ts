import type { JsonObject } from '@bufbuild/protobuf';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The current state of a keyword. `definition` is the JSON form of `KeywordDefinition`. */
@Entity('keywords')
export class KeywordEntity {
  @PrimaryColumn('uuid', { name: 'keyword_id' }) keywordId!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') name!: string;
  /** `active`, `paused`, `retired` */
  @Column('text') state!: string;
  @Column('text', { name: 'paused_reason', nullable: true }) pausedReason!: string | null;
  /** All reasons for a pause; `pausedReason` is the first of them. */
  @Column('text', { array: true }) pauses!: string[];
  @Column('jsonb') definition!: JsonObject;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
  /** Changes with each rotation of the addresses of the keyword's feeds. */
  @Column('text', { name: 'feed_key' }) feedKey!: string;
  /** 1 after the creation. Each change, pause and resume adds 1, and so does the retirement. */
  @Column('integer') version!: number;
}

/** The current state of a watch of a keyword, or of a lone watch. `criteria` is the JSON form of `Criteria`. */
@Entity('watches')
export class WatchEntity {
  @PrimaryColumn('uuid', { name: 'watch_id' }) watchId!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('uuid', { name: 'keyword_id', nullable: true }) keywordId!: string | null;
  @Column('uuid', { name: 'search_id', nullable: true }) searchId!: string | null;
  @Column('text') source!: string;
  @Column('jsonb') criteria!: JsonObject;
  @Column('text', { name: 'criteria_hash' }) criteriaHash!: string;
  @Column('integer', { name: 'interval_seconds' }) intervalSeconds!: number;
  @Column('text', { name: 'webhook_url', nullable: true }) webhookUrl!: string | null;
  /** `all` or `rules` */
  @Column('text', { name: 'webhook_mode' }) webhookMode!: string;
  @Column('jsonb', { nullable: true }) ai!: JsonObject | null;
  @Column('boolean') analysis!: boolean;
  @Column('boolean') backfill!: boolean;
  @Column('boolean', { name: 'is_active' }) isActive!: boolean;
  @Column('text', { name: 'paused_reason', nullable: true }) pausedReason!: string | null;
  /** All reasons for which a lone watch is paused. The watches of a keyword are paused with the keyword. */
  @Column('text', { array: true }) pauses!: string[];
  /** True if the watch's source is disabled in the keyword. */
  @Column('boolean') disabled!: boolean;
  @Column('timestamptz', { name: 'retired_at', nullable: true }) retiredAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
