import { fromBinary } from '@bufbuild/protobuf';
import { AttemptSchema, type Attempt } from './gen/earshot/attempts/v1/attempt_pb.js';

/**
 * Returns the attempts of one message of ATTEMPTS. A message that is not a group (one attempt, or the record of a
 * disabled endpoint) is the only element of the result.
 * @throws Error when the bytes are not an `Attempt`
 */
export function attemptsIn(data: Uint8Array): Attempt[] {
  const message = fromBinary(AttemptSchema, data);
  return message.attempts.length > 0 ? message.attempts : [message];
}
