const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A run of characters this long with a digit in it is a key; names of variables are shorter words with `_` between. */
const longRun = 16;

/** True for a text that can name an environment variable and does not look like a secret itself. */
export function namesVariable(text: string): boolean {
  return variableName.test(text) && !text.split('_').some((run) => run.length >= longRun && /[0-9]/.test(run));
}

/** What is said of a refused name instead of repeating it. */
export const notAVariable = 'a text that is not the name of a variable (not shown, since it may be a secret)';
