import manifest from '../../../package.json' with { type: 'json' };

/** This program’s, as package.json has it: what it tells servers and clients, and what a data folder names. */
export const programVersion: string = manifest.version;
