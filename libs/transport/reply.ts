import { create, fromBinary, toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import { ReplySchema } from '#contracts';
import { Refusal, refuseOversize } from '#kernel';
import type { CommandType } from '#messaging';
import { refusalFor } from '#outages';
import { HTTP_STATUS, refusalKindOf } from './http-status.js';

// The reply to a command on the wire: the output's bytes, or a refusal with its status, code, text and details.

/** Encodes the output of a command. @throws Refusal `too-large` for an output that does not fit into a message */
export function encodeOutput<O extends DescMessage>(
  { output }: CommandType<DescMessage, O>,
  message: MessageShape<O>,
): Uint8Array {
  const value = toBinary(output, message);
  refuseOversize('the answer', value.length);
  return toBinary(ReplySchema, create(ReplySchema, { outcome: { case: 'ok', value } }));
}

/** Encodes the refusal that `refusalFor` returns for the error. */
export function encodeError(error: unknown): Uint8Array {
  const { kind, code, message, details } = refusalFor(error);
  const value = { status: HTTP_STATUS[kind], code, message, details: [...(details ?? [])] };
  return toBinary(ReplySchema, create(ReplySchema, { outcome: { case: 'refusal', value } }));
}

/** Decodes a reply. @throws Refusal from the service; `unavailable` for an empty reply */
export function decodeReply<O extends DescMessage>(
  { output }: CommandType<DescMessage, O>,
  data: Uint8Array,
): MessageShape<O> {
  const { outcome } = fromBinary(ReplySchema, data);
  switch (outcome.case) {
    case 'ok':
      return fromBinary(output, outcome.value);
    case 'refusal': {
      const { status, code, message, details } = outcome.value;
      const faults = details.map((detail) => ({ path: detail.path, message: detail.message }));
      throw new Refusal(refusalKindOf(status), code, message, faults.length > 0 ? faults : undefined);
    }
    case undefined:
      throw Refusal.unavailable('the answer was empty');
  }
}
