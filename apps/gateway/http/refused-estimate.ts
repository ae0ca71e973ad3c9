import { Refusal } from '#kernel';
import { HTTP_STATUS } from '#transport';

/**
 * Returns the result of an estimate whose request would be refused: the refusal that the request would get.
 * @throws the error itself if it is not a refusal, or is a refusal with a status of 500 or more: then the result of the
 * request is unknown
 */
export function refusedEstimate(error: unknown) {
  if (!(error instanceof Refusal) || HTTP_STATUS[error.kind] >= 500) throw error;
  const { kind, code, message, details } = error;
  return {
    valid: false,
    refusal: { status: HTTP_STATUS[kind], code, message, ...(details ? { details } : {}) },
  };
}
