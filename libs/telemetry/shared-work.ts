import { context, createContextKey, trace, type Attributes, type SpanKind } from '@opentelemetry/api';
import {
  contextOf,
  currentTraceparent,
  endedBy,
  endSpan,
  isRecorded,
  linksTo,
  parse,
  stepOf,
} from './trace.js';
import { RECORDED, tracer } from './tracing.js';

/** The span of work that many things caused: a batch of messages, a read for several watches. */
export interface SharedWork {
  name: string;
  kind: SpanKind;
  /** Name of the span that each recorded trace has of it where the work belongs to none of them. */
  partName: string;
  attributes?: Attributes;
  /** When it began, in ms since the epoch; now if left out. */
  startTime?: number;
}

interface Parts {
  causes: ReadonlyMap<object, string | undefined>;
  /** By cause: the step from which the rest of its trace follows. Only of recorded traces. */
  steps: ReadonlyMap<string, string>;
  /** The step that is the work itself. */
  own: string | undefined;
}

const PARTS = createContextKey('earshot parts of shared work');

/**
 * Runs work that many things caused. What follows from one of them belongs to that one's trace: see `causeOf`.
 *
 * Where all causes that are recorded are one step, the work is a span of that trace. Otherwise it has a trace of its own,
 * with a link to each recorded cause, and each recorded trace has a span of its part, with a link to the work.
 * @param causes by message or watch, the step that caused it; undefined: its trace begins here
 */
export function arriveShared<T>(
  { name, kind, partName, attributes = {}, startTime }: SharedWork,
  causes: ReadonlyMap<object, string | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  const { parent, linked, isTold } = originOf(causes.values());
  const started = startTime === undefined ? {} : { startTime };
  const from =
    isTold === undefined ? contextOf(parse(parent)) : contextOf(undefined).setValue(RECORDED, isTold);
  const span = tracer().startSpan(name, { kind, attributes, links: linksTo(...linked), ...started }, from);
  const own = stepOf(span);
  const parts = linked.map((cause) => ({
    cause,
    span: tracer().startSpan(
      partName,
      { kind, attributes, links: linksTo(own), ...started },
      contextOf(parse(cause)),
    ),
  }));
  const steps = new Map(parts.map((part) => [part.cause, stepOf(part.span)]));
  if (parent !== undefined) steps.set(parent, own);
  const within = trace.setSpan(from, span).setValue(PARTS, { causes, steps, own } satisfies Parts);
  return context.with(within, async () => {
    try {
      const result = await endedBy(span, work);
      for (const part of parts) endSpan(part.span);
      return result;
    } catch (error) {
      for (const part of parts) endSpan(part.span, error);
      throw error;
    }
  });
}

/** The step from which follows what is done for one message or watch of the running work; of others, the running step. */
export function causeOf(item: object): string | undefined {
  const parts = context.active().getValue(PARTS) as Parts | undefined;
  if (!parts?.causes.has(item)) return currentTraceparent();
  const cause = parts.causes.get(item);
  return cause === undefined ? parts.own : (parts.steps.get(cause) ?? cause);
}

/** The one step that caused something, as far as it is recorded; undefined where several did. */
export function soleCause(causes: readonly (string | undefined)[]): string | undefined {
  if (causes.length === 1) return causes[0];
  const { parent, linked } = originOf(causes);
  return parent ?? (linked.length === 0 ? causes[0] : undefined);
}

interface Origin {
  /** The step that the work belongs to. */
  parent?: string;
  /** Steps of other traces, all recorded. */
  linked: readonly string[];
  /** Whether the trace of its own is recorded; undefined: the sampler decides. */
  isTold?: boolean;
}

/** Most causes are not recorded, and of those only whether they are one is kept. */
function originOf(causes: Iterable<string | undefined>): Origin {
  const recorded = new Set<string>();
  let first: string | undefined;
  let isOne = true;
  let begins = false;
  for (const cause of causes) {
    if (cause === undefined) begins = true;
    if (cause === undefined || cause === first) continue;
    isOne &&= first === undefined;
    first ??= cause;
    if (isRecorded(cause)) recorded.add(cause);
  }
  const linked = [...recorded];
  if (!begins && first !== undefined && isOne) return { parent: first, linked: [] };
  if (!begins && linked[0] !== undefined && linked.length === 1) return { parent: linked[0], linked: [] };
  if (linked.length > 0) return { linked, isTold: true };
  return begins || first === undefined ? { linked } : { linked, isTold: false };
}
