import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TABLE_ENGINES } from './guard.js';

/**
 * The rights that the services need. They do not include sources (FILE, URL, REMOTE, S3 …), dictionaries, functions,
 * backups and SYSTEM.
 */
const GRANTS = [
  `GRANT SELECT, INSERT, ALTER UPDATE, ALTER DELETE, ALTER COLUMN, ALTER INDEX, ALTER SETTINGS, ALTER TTL,
    CREATE DATABASE, CREATE TABLE, CREATE VIEW, CREATE TEMPORARY TABLE, DROP, TRUNCATE, OPTIMIZE, SHOW, KILL QUERY ON *.*`,
  ...TABLE_ENGINES.map((engine) => `GRANT TABLE ENGINE ON ${engine}`),
];

/**
 * Settings with fixed values, which a statement cannot change. With other values, a statement could for example read or
 * write a file, use the network, or use another query language.
 */
const FIXED_SETTINGS = {
  dialect: 'clickhouse',
  // The bridge does not check expressions in the values of an INSERT, so the engine must not evaluate them.
  input_format_values_interpret_expressions: '0',
  format_schema: '',
  format_schema_source: 'file',
  format_template_resultset: '',
  format_template_row: '',
  format_avro_schema_registry_url: '',
  input_format_record_errors_file_path: '',
  url_base: '',
  allow_experimental_eval_table_function: '0',
  allow_python_table_function: '0',
  allow_experimental_ai_functions: '0',
  allow_experimental_kusto_dialect: '0',
  allow_experimental_prql_dialect: '0',
  allow_experimental_polyglot_dialect: '0',
  dynamic_disk_allow_from_env: '0',
  dynamic_disk_allow_include: '0',
  dynamic_disk_allow_from_zk: '0',
} as const;

/**
 * Maximum number of idle threads that the engine keeps. By default the engine keeps up to 1,000 threads, each with its
 * own memory. After two minutes of 20 requests per second it had 155 threads, of which 13 were working.
 */
const IDLE_THREADS = 16;

/**
 * Writes the engine's configuration: one user without rights outside the store.
 * @returns the options for the engine's first connection
 */
export function engineOptions(directory: string): string[] {
  const configFile = join(directory, 'engine-config.xml');
  const usersFile = join(directory, 'engine-users.xml');
  const empty = join(directory, 'empty');
  mkdirSync(empty, { recursive: true, mode: 0o700 });
  writeFileSync(configFile, configOf(usersFile, empty), { mode: 0o600 });
  writeFileSync(usersFile, USERS, { mode: 0o600 });
  return [`--config-file=${configFile}`];
}

function configOf(usersFile: string, empty: string): string {
  const pathSettings = [
    'user_files_path',
    'format_schema_path',
    'user_scripts_path',
    'dictionaries_lib_path',
  ];
  return `<clickhouse>
  <users_config>${escaped(usersFile)}</users_config>
  ${pathSettings.map((setting) => `<${setting}>${escaped(empty)}/</${setting}>`).join('\n  ')}
  <remote_url_allow_hosts></remote_url_allow_hosts>
  <max_thread_pool_free_size>${IDLE_THREADS}</max_thread_pool_free_size>
  <access_control_improvements>
    <table_engines_require_grant>true</table_engines_require_grant>
  </access_control_improvements>
</clickhouse>
`;
}

const USERS = `<clickhouse>
  <profiles><default>
    ${Object.entries(FIXED_SETTINGS)
      .map(([name, value]) => `<${name}>${value}</${name}>`)
      .join('\n    ')}
    <constraints>
      ${Object.keys(FIXED_SETTINGS)
        .map((name) => `<${name}><readonly/></${name}>`)
        .join('\n      ')}
    </constraints>
  </default></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password></password>
    <networks><ip>::/0</ip></networks>
    <profile>default</profile>
    <quota>default</quota>
    <grants>
      ${GRANTS.map((grant) => `<query>${grant}</query>`).join('\n      ')}
    </grants>
  </default></users>
</clickhouse>
`;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
