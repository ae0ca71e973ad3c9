import fc from 'fast-check';
import { candidatesOf, parseSearchRules } from './search-domains.js';

interface System {
  file?: string;
  environment?: Record<string, string>;
  ownName?: string;
}

const asked = (name: string, { file = '', environment = {}, ownName = 'machine' }: System) =>
  candidatesOf(name, parseSearchRules(file, { environment, ownName }));

const KUBERNETES = 'search dev.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n';
const FIRST = 'hooks.dev.dev.svc.cluster.local hooks.dev.svc.cluster.local hooks.dev.cluster.local';

// The expected names are the questions of glibc 2.36, without repetitions. A name server that knows no name recorded
// them.
describe('the names in the lookup of a host', () => {
  it.each<[string, System, string]>([
    ['hooks.dev', { file: KUBERNETES }, `${FIRST} hooks.dev`],
    ['hooks', { file: 'search a.example b.example\n' }, 'hooks.a.example hooks.b.example hooks'],
    [
      'hooks.dev',
      { file: 'search a.example b.example\n' },
      'hooks.dev hooks.dev.a.example hooks.dev.b.example',
    ],
    ['hooks.dev.', { file: KUBERNETES }, 'hooks.dev.'],
    ['hooks', {}, 'hooks'],
    ['a.b.c', { file: 'search x.example\noptions ndots:2\n' }, 'a.b.c a.b.c.x.example'],
  ])('equal the names that glibc asks for (host %s, settings %j)', (name, system, names) => {
    expect(asked(name, system)).toEqual(names.split(' '));
  });

  it.each<[string, System, string]>([
    ['hooks', { file: 'search .\n' }, 'hooks'],
    ['x.y', { file: 'search . a.example\noptions ndots:2\n' }, 'x.y x.y.a.example'],
    ['x.y', { file: 'search a.example .\noptions ndots:2\n' }, 'x.y.a.example x.y'],
    ['hooks', { file: 'search a.example a.example\n' }, 'hooks.a.example hooks'],
    ['hooks', { file: 'search .a.example. b.example\n' }, 'hooks.a.example hooks.b.example hooks'],
  ])(
    'contain the host itself in the place of the root domain, and no name twice (host %s, settings %j)',
    (name, system, names) => {
      expect(asked(name, system)).toEqual(names.split(' '));
    },
  );

  it.each<[string, System, string]>([
    ['hooks', { file: 'search a.example\ndomain b.example c.example\n' }, 'hooks.b.example hooks'],
    ['hooks', { file: 'domain b.example\nsearch a.example\n' }, 'hooks.a.example hooks'],
    ['hooks', { file: 'search a.example\nsearch\n' }, 'hooks.a.example hooks'],
    ['hooks', { file: 'search\ta.example\tb.example\n' }, 'hooks.a.example hooks.b.example hooks'],
    ['hooks', { file: ' search a.example\n#search b.example\n;search c.example\n' }, 'hooks'],
    ['hooks', { file: 'searching a.example\n' }, 'hooks'],
    ['hooks', { ownName: 'machine.corp.example' }, 'hooks.corp.example hooks'],
    ['hooks', { ownName: 'machine.corp.example', file: 'search a.example\n' }, 'hooks.a.example hooks'],
  ])(
    'use the last `domain` or `search` line, otherwise the domain of this machine (host %s, settings %j)',
    (name, system, names) => {
      expect(asked(name, system)).toEqual(names.split(' '));
    },
  );

  it.each<[string, System, string]>([
    ['x.y', { file: 'search a.example\noptions attempts:1 ndots:2 timeout:1\n' }, 'x.y.a.example x.y'],
    ['hooks', { file: 'search a.example\noptions ndots:3\noptions ndots:0\n' }, 'hooks hooks.a.example'],
    ['hooks', { file: 'search a.example\noptions ndots:x\n' }, 'hooks hooks.a.example'],
    [
      'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q',
      { file: 'search a.example\noptions ndots:99\n' },
      'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.a.example',
    ],
    ['hooks', { file: 'search a.example\noptions no-tld-query\n' }, 'hooks.a.example'],
    ['hooks', { file: 'options no-tld-query\n' }, 'hooks'],
    ['x.y', { file: 'search a.example\noptions no-tld-query ndots:2\n' }, 'x.y.a.example x.y'],
    ['hooks', { file: 'search a.example\noptions no-tld-query ndots:0\n' }, 'hooks hooks.a.example'],
  ])('follow the `options` line (host %s, settings %j)', (name, system, names) => {
    expect(asked(name, system)).toEqual(names.split(' '));
  });

  it.each<[Record<string, string>, string]>([
    [{ LOCALDOMAIN: 'l.example m.example' }, 'hooks.dev.l.example hooks.dev.m.example hooks.dev'],
    [{ LOCALDOMAIN: '' }, 'hooks.dev'],
    [{ RES_OPTIONS: 'ndots:1' }, `hooks.dev ${FIRST}`],
  ])('follow the environment variables %j instead of the file', (environment, names) => {
    expect(asked('hooks.dev', { file: KUBERNETES, environment })).toEqual(names.split(' '));
  });

  it('contain the host itself, first or last, and the host in each search domain, in order', () => {
    const label = fc.stringMatching(/^[a-z]{1,4}$/);
    const name = fc.array(label, { minLength: 1, maxLength: 6 });
    const domains = fc.uniqueArray(
      fc.array(label, { minLength: 2, maxLength: 3 }).map((labels) => labels.join('.')),
    );
    fc.assert(
      fc.property(name, domains, fc.integer({ min: 0, max: 15 }), (labels, searched, ndots) => {
        const host = labels.join('.');
        const file = `search ${searched.join(' ')}\noptions ndots:${ndots}\n`;
        const completed = searched.map((domain) => `${host}.${domain}`);
        const isComplete = labels.length - 1 >= ndots;
        expect(asked(host, { file })).toEqual(isComplete ? [host, ...completed] : [...completed, host]);
      }),
    );
  });
});
