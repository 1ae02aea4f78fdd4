import type { Configuration, ToolFile } from '@sluice/core';
import type { ToolContract } from '@sluice/tools';
import type { ToolProcesses } from '@sluice/isolation';

/**
 * The contracts of a configuration’s own tool files, of the tools that its policy allows. A file that cannot be
 * loaded, or is not the one that the configuration was compiled with, is left out, so that its tools are unavailable,
 * and `onFault` hears why. `onClosed` hears of one that uses what no tool has. Their code is run in the processes.
 */
export async function fileContracts(
  { tools, policy }: Configuration,
  processes: ToolProcesses,
  onFault: (file: ToolFile, reason: string) => void,
  onClosed: (file: ToolFile, uses: readonly string[]) => void,
): Promise<readonly ToolContract[]> {
  const allowed = new Set(policy.allowedTools);
  const files = new Map(
    tools.flatMap(({ id, type, file }) => (file !== undefined && allowed.has(id) ? [[type, file] as const] : [])),
  );
  const contracts: ToolContract[] = [];
  for (const [type, file] of files) {
    try {
      const loaded = await processes.load(file.path);
      if (loaded.file.hash !== file.hash) throw new Error('it was changed since the configuration was compiled');
      if (JSON.stringify(loaded.file.network) !== JSON.stringify(file.network))
        throw new Error('it asks for another network than when the configuration was compiled');
      if (loaded.contract.type !== type) throw new Error(`it brings the type "${loaded.contract.type}" now`);
      contracts.push(loaded.contract);
      if (loaded.closedUses.length > 0) onClosed(file, loaded.closedUses);
    } catch (error) {
      onFault(file, (error as Error).message);
    }
  }
  return contracts;
}
