export const diskFull = async (
  _seed: number,
  _folder: string,
  _say: (line: string) => void,
): Promise<readonly string[]> => [];
