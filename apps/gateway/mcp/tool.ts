import { z } from 'zod';
import type { MemberRole } from '#contracts';
import type { Caller, CallingKey } from '../auth/api-keys.js';
import type { McpRoutes } from './mcp-routes.js';
import type { McpSpending } from './mcp-spending.js';

/** The context of a tool: the use cases of the HTTP routes, with the rights of one caller. */
export interface ToolContext {
  caller: Caller & { by: CallingKey };
  routes: McpRoutes;
  spending: McpSpending;
}

/** The effect of a tool on the account. Clients show it before they ask the user. */
export interface ToolEffects {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export const READS: ToolEffects = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const CHANGES: ToolEffects = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** The definition of a tool. */
interface ToolParts<I extends z.ZodObject, O extends z.ZodObject> {
  name: string;
  title: string;
  /** For the model: what it does, and what it costs. */
  description: string;
  input: I;
  output: O;
  effects: ToolEffects;
  /** The scope that the key must have. */
  role: MemberRole;
  run(context: ToolContext, input: z.output<I>): Promise<z.input<O>>;
}

/** A tool that can be listed and called. */
export interface McpTool {
  name: string;
  role: MemberRole;
  /** Its entry in `tools/list`. */
  listed: {
    name: string;
    title: string;
    description: string;
    inputSchema: { type: 'object' };
    outputSchema: { type: 'object' };
    annotations: ToolEffects & { title: string };
  };
  input: z.ZodObject;
  run(context: ToolContext, input: unknown): Promise<Record<string, unknown>>;
}

/** Prepares a tool: its schemas are converted once, at the start. */
export function tool<I extends z.ZodObject, O extends z.ZodObject>(parts: ToolParts<I, O>): McpTool {
  const { name, title, description, input, output, effects, role } = parts;
  return {
    name,
    role,
    input,
    listed: {
      name,
      title,
      description,
      inputSchema: z.toJSONSchema(input, { io: 'input' }) as { type: 'object' },
      outputSchema: z.toJSONSchema(output, { io: 'input' }) as { type: 'object' },
      annotations: { title, ...effects },
    },
    run: (context, given) => parts.run(context, given as z.output<I>),
  };
}
