/** What keeps a server from listening, as a sentence that names the variable to change. */
export function listenError(
  error: unknown,
  {
    host,
    port,
    what,
    variable,
  }: { readonly host: string; readonly port: number; readonly what: string; readonly variable: string },
): Error {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    return new Error(
      `Port ${port} on ${host} is taken by another program. Set ${variable} to a free one (0 picks one).`,
      {
        cause: error,
      },
    );
  }
  if (code === 'EACCES') {
    return new Error(`Port ${port} on ${host} may not be used by this user. Set ${variable} to one above 1023.`, {
      cause: error,
    });
  }
  return new Error(
    `${what} cannot be served on ${host}:${port}: ${(error as Error).message}. Check SLUICE_HOST and ${variable}.`,
    { cause: error },
  );
}
