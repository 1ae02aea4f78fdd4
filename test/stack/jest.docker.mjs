import base from '../../jest.config.mjs';

const { projects, ...options } = base;
/** How the tests of every project are read; `pure` starts no parts. */
const pure = projects.find(({ displayName }) => displayName === 'pure');

/** The tests that need Docker, which bring their own parts. */
export default {
  ...options,
  ...pure,
  displayName: 'stack',
  rootDir: '../..',
  roots: ['<rootDir>/test/stack'],
  // One stack after another: two would be too much for most machines.
  maxWorkers: 1,
  testMatch: ['**/*.docker.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
