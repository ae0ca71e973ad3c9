import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** The folder that may write each table of Postgres. Other folders may only read it. */
const TABLES = {
  'apps/billing': [
    ...['accounts', 'api_keys', 'members', 'invitations'],
    ...['credit_balances', 'credit_movements', 'credit_usage'],
  ],
  'apps/gateway': [
    ...['api_key_uses', 'idempotency_records', 'request_quotas'],
    ...['sessions', 'auth_attempts', 'account_mails', 'audit_log', 'mcp_spending'],
  ],
  'apps/keywords': ['keywords', 'watches', 'purged_keywords', 'quoted_periods'],
  'apps/polling': ['watch_schedule', 'upstream_searches', 'seen_items', 'lanes', 'polling_replicas'],
  'apps/delivery': [
    ...['pending_deliveries', 'webhook_endpoints', 'webhook_tests', 'replays'],
    ...['channels', 'channel_addresses', 'verification_mails'],
  ],
  'apps/analysis': [
    ...['semantic_questions', 'mention_labels', 'waiting_readings', 'backtests'],
    ...['mention_counts', 'counted_mentions', 'search_coverage', 'alert_turns', 'alert_episodes'],
    ...['digest_items', 'digest_turns', 'reports'],
  ],
  'libs/credits': ['credit_holds'],
  'libs/platform': ['installation'],
  'libs/projections': ['projection_positions'],
};

/** Forbids statements that write one of these tables. */
function noWritesOf(tables) {
  const statement = `/(INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|MERGE INTO)\\s+(${tables.join('|')})\\b/`;
  const message =
    'This table belongs to another folder (TABLES in eslint.config.js): change it by a fact or a command to its owner.';
  const selectors = [`TemplateElement[value.raw=${statement}]`, `Literal[value=${statement}]`];
  return { 'no-restricted-syntax': ['error', ...selectors.map((selector) => ({ selector, message }))] };
}

// Rules that need types are in .oxlintrc.json: oxlint checks them ten times as fast.
export default tseslint.config(
  {
    ignores: [
      'dist/',
      'clients/typescript/dist/',
      'dist-test/',
      'node_modules/',
      'libs/contracts/gen/',
      'clients/typescript/src/api.ts',
      '.data/',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'Outbound HTTP has one door: #http-out.' },
      ],
    },
  },
  // The client runs in browsers and calls its own installation.
  { files: ['clients/**/*.ts'], rules: { 'no-restricted-globals': 'off' } },
  // Specs prepare data; migrations and the operator's tools may write all tables.
  ...['apps/earshot', 'apps/simulator', ...Object.keys(TABLES), 'libs'].map((folder) => ({
    files: [`${folder}/**/*.ts`],
    ignores: [
      ...['**/*.spec.ts', '**/testing/**', 'libs/postgres/migrations/**'],
      ...(folder === 'libs' ? Object.keys(TABLES).map((owner) => `${owner}/**`) : []),
    ],
    rules: noWritesOf(Object.entries(TABLES).flatMap(([owner, tables]) => (owner === folder ? [] : tables))),
  })),
  {
    files: ['apps/dashboard/public/*.js'],
    languageOptions: { globals: { document: 'readonly', localStorage: 'readonly', matchMedia: 'readonly' } },
  },
  { files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: {
        module: 'writable',
        require: 'readonly',
        __dirname: 'readonly',
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
);
