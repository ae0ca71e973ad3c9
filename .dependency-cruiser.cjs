/** The import rules of this repository. Run by `npm run lint:imports`. */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'libs-never-import-apps', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'an-app-never-imports-an-app',
      comment: 'Only apps/earshot imports the other apps.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/earshot/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '/domain/', pathNot: '[.]spec[.]ts$' },
      to: {
        pathNot: '/domain/|^libs/(kernel|contracts)/|^node_modules/(@bufbuild/protobuf|luxon|@types/luxon)/',
      },
    },
    {
      name: 'a-source-never-imports-a-source',
      severity: 'error',
      comment: 'What sources have in common is in shared/. Its specs may use a source as the example.',
      from: { path: '^libs/sources/([^/]+)/', pathNot: '^libs/sources/shared/[^/]+[.]spec[.]ts$' },
      to: { path: '^libs/sources/(?!shared/|testing/)[^/]+/', pathNot: '^libs/sources/$1/' },
    },
    {
      name: 'only-tests-import-testing',
      comment: 'The build leaves out all testing/ folders, except libs/testing, which the benches import.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '[.]spec[.]ts$|/testing/' },
      to: { path: '/testing/', pathNot: '^node_modules/' },
    },
    {
      name: 'a-lib-is-entered-by-its-index',
      severity: 'error',
      from: { path: '^(apps|test|bench)/' },
      to: {
        path: '^libs/([^/]+)/(?!index[.]ts$)',
        pathNot: '^libs/(sources/[^/]+/index[.]ts$|readers/models/index[.]ts$|contracts/gen/)',
      },
    },
    {
      name: 'kernel-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^libs/kernel/' },
      to: { path: '^(libs/(?!kernel/)|apps/)' },
    },
    {
      name: 'the-client-stands-alone',
      comment: 'It is published, and runs in browsers.',
      severity: 'error',
      from: { path: '^clients/', pathNot: '[.]spec[.]ts$|/testing/' },
      to: { pathNot: '^clients/' },
    },
    {
      name: 'the-client-is-entered-by-its-index',
      severity: 'error',
      from: { path: '^(apps|libs|test|bench)/' },
      to: { path: '^clients/typescript/src/(?!index[.]ts$)' },
    },
    {
      name: 'nothing-unlisted',
      severity: 'error',
      from: { path: '^(apps|clients|libs)/', pathNot: '^clients/.*[.]spec[.]ts$' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '^dist/' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
