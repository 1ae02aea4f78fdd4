/**
 * A text for people, its commands as they are typed here: in the image there is no npx, and `sluice` is on the path.
 */
export function withCommands(text: string, hasNpx: boolean): string {
  return hasNpx ? text : text.replaceAll('npx sluice', 'sluice');
}
