/** Loaded where something is compared: the build finds a library by its name in static imports alone. */
export { differences } from '@sluice/replay';
