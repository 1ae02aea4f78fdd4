import base from '../../jest.config.mjs';

/** The test that needs Docker, which brings its own parts. */
export default {
  ...base,
  globalSetup: undefined,
  globalTeardown: undefined,
  rootDir: '../..',
  roots: ['<rootDir>/test/stack'],
  testMatch: ['**/*.docker.ts'],
};
