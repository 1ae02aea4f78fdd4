/** As much is under way as this process holds at a time: the caller tries again in a moment. */
export class Busy extends Error {
  override readonly name = 'Busy';
}
