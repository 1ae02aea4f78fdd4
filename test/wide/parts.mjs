/**
 * The parts of `npm run test:wide`: what needs minutes. Run a part after a change to what it covers. Each takes at
 * most 20 minutes on two quiet cores. A part is a folder beside this file: a script `main.ts`, or test files of the
 * Jest project `wide`.
 */
export const parts = {
  kills: 'ends a process with kill -9 at each record of a run that works by a plan, and goes on after each',
  mutants:
    'changes single expressions of the doors and the pipeline, and names the changes that no nearby test notices',
};
