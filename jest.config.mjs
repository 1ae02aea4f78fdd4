/** One run for everything: the tests beside the libraries, and those of test/ that need more than one service. */
export default {
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/infra/jest-start.ts',
  globalTeardown: '<rootDir>/test/infra/jest-stop.ts',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^@sluice/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  testTimeout: 30_000,
};
