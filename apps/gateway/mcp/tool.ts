import { z } from 'zod';
import type { MemberRole } from '#contracts';
import type { Caller, CallingKey } from '../auth/api-keys.js';
import type { McpRoutes } from './mcp-routes.js';
import type { McpSpending } from './mcp-spending.js';

/** The context of a tool: the caller, and the HTTP routes that the tool can call. */
export interface ToolContext {
  caller: Caller & { by: CallingKey };
  routes: McpRoutes;
  spending: McpSpending;
  /** The id of the command that the tool sends. A request that is repeated with its Idempotency-Key has the same id. */
  commandId: string;
}

/** The effect of a tool on the account. Clients show the effect when they ask the user for permission. */
export interface ToolEffects {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** The effects of a tool that only reads. */
export const READS: ToolEffects = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
/** The effects of a tool that changes something and deletes nothing. */
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
  /** For the model: what the tool does, and what a call costs. */
  description: string;
  input: I;
  output: O;
  effects: ToolEffects;
  /** The role whose rights the key must have. */
  role: MemberRole;
  run(context: ToolContext, input: z.output<I>): Promise<z.input<O>>;
}

/** A tool that can be listed and called. */
export interface McpTool {
  name: string;
  role: MemberRole;
  /** The entry of the tool in `tools/list`. */
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

/** Prepares a tool. Its schemas are converted only here, when the gateway starts. */
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
