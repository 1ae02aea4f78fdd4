/** A session that does not come in time is not waited for: tools are chosen without it. */
const sessionPatienceMs = 250;

export async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${String(sessionPatienceMs)} ms`)), sessionPatienceMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
