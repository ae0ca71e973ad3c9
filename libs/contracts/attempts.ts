import { fromBinary } from '@bufbuild/protobuf';
import { AttemptSchema, type Attempt } from './gen/earshot/attempts/v1/attempt_pb.js';

/**
 * The attempts in one message of ATTEMPTS. If the message is not a group of attempts, it is returned itself: it is then
 * one attempt, or the record of a disabled endpoint.
 * @throws Error when the bytes are not an `Attempt`
 */
export function attemptsIn(data: Uint8Array): Attempt[] {
  const message = fromBinary(AttemptSchema, data);
  return message.attempts.length > 0 ? message.attempts : [message];
}
