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

// A step of a trace is a span. Here, the `traceparent` of a step identifies it.

/** The span of work with several causes: a batch of messages, or a read for several watches. */
export interface SharedWork {
  name: string;
  kind: SpanKind;
  /** If the work has its own trace: the name of the span that represents it in each recorded trace of a cause. */
  partName: string;
  attributes?: Attributes;
  /** When the work began, in ms since the epoch; default now. */
  startTime?: number;
}

interface Parts {
  causes: ReadonlyMap<object, string | undefined>;
  /** The next step of the trace of each recorded cause, and of the cause whose trace the work itself continues. */
  steps: ReadonlyMap<string, string>;
  /** The step of the work itself. */
  own: string | undefined;
}

const PARTS = createContextKey('earshot parts of shared work');

/**
 * Runs work that has several causes. What the work does because of one cause belongs to the trace of that cause: see
 * `causeOf`. The work is a span of the trace of a step if every cause has a trace, and this step is the only cause or
 * the only recorded cause. Otherwise the work has its own trace, with a link to each recorded cause. Each recorded
 * trace then has a span for its part of the work, with a link to the span of the work.
 * @param causes the step that caused each message or watch; undefined: the message or watch has no trace yet
 */
export function arriveShared<T>(
  { name, kind, partName, attributes = {}, startTime }: SharedWork,
  causes: ReadonlyMap<object, string | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  const { parent, linked, isOwnRecorded } = originOf(causes.values());
  const started = startTime === undefined ? {} : { startTime };
  const from =
    isOwnRecorded === undefined
      ? contextOf(parse(parent))
      : contextOf(undefined).setValue(RECORDED, isOwnRecorded);
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

/**
 * Returns the `traceparent` for everything that the running work does for one message or watch of `arriveShared`. For
 * any other object, returns the `traceparent` of the running work.
 */
export function causeOf(item: object): string | undefined {
  const parts = context.active().getValue(PARTS) as Parts | undefined;
  if (!parts?.causes.has(item)) return currentTraceparent();
  const cause = parts.causes.get(item);
  return cause === undefined ? parts.own : (parts.steps.get(cause) ?? cause);
}

/**
 * Returns the step to which a result of several causes belongs: the only step, or the only recorded step. Undefined if
 * there are several recorded steps, or if a step is recorded and another cause has no trace. If no step is recorded,
 * returns the first cause, which can be undefined.
 */
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
  /** Whether the own trace of the work is recorded; undefined: the sampler decides. */
  isOwnRecorded?: boolean;
}

/**
 * Returns the origin of work with these causes. Most causes are not recorded. For them, the loop only remembers whether
 * all causes are the same step.
 */
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
  if (linked.length > 0) return { linked, isOwnRecorded: true };
  return begins || first === undefined ? { linked } : { linked, isOwnRecorded: false };
}
