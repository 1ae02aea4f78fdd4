const swc = (syntax) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', ...syntax },
      transform: { legacyDecorator: true, decoratorMetadata: true, react: { runtime: 'automatic' } },
      keepClassNames: true,
      experimental: { keepImportAttributes: true },
    },
    module: { type: 'es6' },
  },
];

/**
 * Three projects. `pure` needs nothing but Node and takes minutes: the libraries, the rules about the source, what
 * services do in one process. `real` needs a broker, a database or processes of its own; its tests mostly wait, so that
 * more of them run at once than there are cores. `wide` is what needs minutes for one thing.
 */
const shared = {
  testEnvironment: '<rootDir>/test/infra/measured.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/infra/sqlite-plans.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: {
    '\\.css$': '<rootDir>/test/infra/css-names.mjs',
    '\\.svg$': '<rootDir>/test/infra/picture.mjs',
    '^@sluice/client$': '<rootDir>/packages/client/src/index.ts',
    '^@sluice/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.ts$': swc({ decorators: true }), '^.+\\.tsx$': swc({ tsx: true }) },
};

/**
 * The tests of libraries and services that need real parts, or MCP servers, each a process. A pure test that asks for a
 * real part fails with a sentence.
 */
const real = [
  'apps/executor/test/(mcp-servers|server-reporter)\\.',
  'libs/bus/test/kafka/',
  'libs/content/test/postgres',
  'libs/host/test/(belonging-kafka|clock-watch|prefixes)\\.',
  'libs/hub/test/(allowed-by-name|analysis-server|hostile-|mcp-|protocol-eras|sample-|simplified-tools|stdio-|stdout-)',
  'libs/ledger/test/postgres',
];

export default {
  reporters: ['default', '<rootDir>/test/infra/slowest.mjs'],
  testSequencer: '<rootDir>/test/infra/longest-first.mjs',
  // Most tests take a second. This long only a test that hangs takes, or one of a dozen commands, each a process, on
  // a busy machine.
  testTimeout: 240_000,
  projects: [
    {
      ...shared,
      displayName: 'pure',
      roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/test/static'],
      testMatch: ['**/*.test.ts', '**/*.test.tsx'],
      testPathIgnorePatterns: ['/node_modules/', ...real.map((path) => `<rootDir>/${path}`)],
    },
    {
      ...shared,
      displayName: 'real',
      roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/test'],
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        '<rootDir>/test/static/',
        '<rootDir>/test/wide/',
        `<rootDir>/(?!test/|${real.join('|')})`,
      ],
      globalSetup: '<rootDir>/test/infra/jest-start.ts',
      globalTeardown: '<rootDir>/test/infra/jest-stop.ts',
    },
    // What needs minutes: `npm run test:wide`, by the names in test/wide/parts.mjs.
    {
      ...shared,
      displayName: 'wide',
      roots: ['<rootDir>/test/wide'],
      testMatch: ['**/*.test.ts'],
      globalSetup: '<rootDir>/test/infra/jest-start.ts',
      globalTeardown: '<rootDir>/test/infra/jest-stop.ts',
    },
  ],
};
