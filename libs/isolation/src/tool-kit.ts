import { z } from 'zod';
import { ToolOutcomeLostError, ToolUnavailableError, ToolUserError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

/**
 * What a tool file outside the project is given, since it stands anywhere and can import nothing of it: its default
 * export is a function of this that returns the tool.
 */
export const toolKit = Object.freeze({ defineTool, z, ToolUserError, ToolUnavailableError, ToolOutcomeLostError });
export type ToolKit = typeof toolKit;
