import base from '../../jest.config.mjs';

/** The tests that need Docker, which bring their own parts. */
export default {
  ...base,
  globalSetup: undefined,
  globalTeardown: undefined,
  rootDir: '../..',
  roots: ['<rootDir>/test/stack'],
  // One stack after another: two would be too much for most machines.
  maxWorkers: 1,
  testMatch: ['**/*.docker.ts'],
};
