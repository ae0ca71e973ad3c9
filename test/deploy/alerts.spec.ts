import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { read, readYaml, ROOT } from './deployment-files.js';
import { documentedMetrics, withoutHistogramSuffix } from './documented-metrics.js';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}
interface Dashboard {
  uid: string;
  panels: { title: string; description: string; targets: { expr: string }[] }[];
}

const rules = readYaml<{ groups: { rules: Rule[] }[] }>('deploy/prometheus/alerts.yaml').groups.flatMap(
  (group) => group.rules,
);
const dashboardFiles = readdirSync(join(ROOT, 'deploy/grafana/dashboards'));
const dashboards = dashboardFiles.map(
  (file) => JSON.parse(read('deploy/grafana/dashboards', file)) as Dashboard,
);
const panels = dashboards.flatMap((dashboard) => dashboard.panels);
const scalers = read('deploy/kubernetes/components/autoscaling/consumers.yaml');
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];
const METRIC = /\b(?:earshot|process|nodejs)_[a-z0-9_]+/g;
const isPromtoolThere = spawnSync('promtool', ['--version']).error === undefined;

const documented = new Set(documentedMetrics().keys());

function metricsIn(text: string): string[] {
  return (text.match(METRIC) ?? []).map(withoutHistogramSuffix);
}

function promtool(...args: string[]) {
  const cwd = join(ROOT, 'deploy/prometheus');
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('the metrics', () => {
  it('are in docs/operations.md if alerts, dashboards or scalers use them', () => {
    const used = [...expressions, scalers].flatMap(metricsIn);
    expect(used.filter((name) => !documented.has(name))).toEqual([]);
  });

  it('are all on a dashboard, and also in an alert if they begin with earshot_ (except charged credits)', () => {
    const shown = new Set(panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr))));
    expect([...documented].filter((name) => !shown.has(name))).toEqual([]);
    const watched = new Set(rules.flatMap(({ expr }) => metricsIn(expr)));
    // The metric of charged credits is only for dashboards. The alert uses the metric of credit movements.
    const only = [...documented].filter((name) => name.startsWith('earshot_') && !watched.has(name));
    expect(only).toEqual(['earshot_charged_credits_total']);
  });
});

describe('the alerts', () => {
  it('each have a severity, a summary and their own section in the runbook', () => {
    const sections = [...read('docs/runbook.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(annotations.summary).not.toBe('');
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
  });

  (isPromtoolThere ? it : it.skip)(
    'pass promtool check rules, and prometheus.yml passes promtool check config (skipped where promtool is not installed)',
    () => {
      expect(promtool('check', 'rules', '--lint-fatal', 'alerts.yaml')).toMatchObject({ status: 0 });
      expect(promtool('check', 'config', '--syntax-only', 'prometheus.yml')).toMatchObject({ status: 0 });
    },
  );

  (isPromtoolThere ? it : it.skip)('pass their unit tests (skipped where promtool is not installed)', () => {
    expect(promtool('test', 'rules', 'alerts.test.yaml')).toMatchObject({ status: 0 });
  });
});

describe('the dashboards', () => {
  it('each have an id equal to their file name, and a description in each panel', () => {
    expect(dashboards.map(({ uid }) => `${uid}.json`)).toEqual(dashboardFiles);
    for (const { title, description } of panels) expect([title, description !== '']).toEqual([title, true]);
  });

  (isPromtoolThere ? it : it.skip)(
    'contain only valid PromQL, as the alerts do (skipped where promtool is not installed)',
    () => {
      const groups = [
        { name: 'panels', rules: expressions.map((expr, n) => ({ record: `panel:${n}`, expr })) },
      ];
      const directory = mkdtempSync(join(tmpdir(), 'earshot-panels-'));
      const file = join(directory, 'panels.yaml');
      writeFileSync(file, JSON.stringify({ groups }));
      const { status, output } = promtool('check', 'rules', file);
      rmSync(directory, { recursive: true });
      expect([status, output]).toEqual([0, expect.stringContaining(`${expressions.length} rules found`)]);
    },
  );
});
