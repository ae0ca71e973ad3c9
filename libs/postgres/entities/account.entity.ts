import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An account: a plan and a signing secret. */
@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') email!: string;
  @Column('text') plan!: string;
  /** AES-256-GCM with MASTER_KEY: see `#secrets`. */
  @Column('bytea', { name: 'signing_secret_encrypted' }) signingSecretEncrypted!: Buffer;
  /** The secret before the last rotation, also encrypted. Deliveries are signed with both until `…ValidUntil`. */
  @Column('bytea', { name: 'previous_signing_secret_encrypted', nullable: true })
  previousSigningSecretEncrypted!: Buffer | null;
  @Column('timestamptz', { name: 'previous_signing_secret_valid_until', nullable: true })
  previousSigningSecretValidUntil!: Date | null;
  /** `v1` or `legacy`: the form of X-Signature. */
  @Column('text', { name: 'signature_version', default: 'v1' }) signatureVersion!: string;
  /** Empty if the account has no name. */
  @Column('text', { default: '' }) name!: string;
  /** IANA name. */
  @Column('text', { default: 'UTC' }) timezone!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

/** One API key. Only its SHA-256 is stored. */
@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('uuid', { name: 'key_id' }) keyId!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') name!: string;
  @Column('bytea', { name: 'key_hash' }) keyHash!: Buffer;
  /** `read` or `write` */
  @Column('text') scope!: string;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  /** Maximum credits per UTC day through MCP; null: the gateway's setting applies. */
  @Column('integer', { name: 'mcp_daily_credits', nullable: true }) mcpDailyCredits!: number | null;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
