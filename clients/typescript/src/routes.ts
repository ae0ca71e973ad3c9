import type { paths } from './api.js';

/** A method of a request. */
export type Method = 'get' | 'post' | 'patch' | 'delete';

/** The paths that have a method, such as `/v1/mentions/{id}`. */
export type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths] &
  string;

type Operation<M extends Method, P extends PathsOf<M>> = paths[P] extends Record<M, infer O> ? O : never;
type Parameters<O> = O extends { parameters: infer Found } ? Found : never;

/** A parameter that can be repeated also takes one value. */
type Values<Q> = { [K in keyof Q]: Q[K] | (NonNullable<Q[K]> extends readonly (infer One)[] ? One : never) };
type QueryOf<O> = Parameters<O> extends { query?: infer Q } ? Values<NonNullable<Q>> : never;
type PathOf<O> = Parameters<O> extends { path: infer Found } ? Found : never;
type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : O extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? Body | undefined
    : never;

type IsRequired<T> = [T] extends [never] ? false : Record<never, never> extends T ? false : true;
type Part<Name extends string, T> = [T] extends [never]
  ? { [K in Name]?: never }
  : undefined extends T
    ? { [K in Name]?: T }
    : IsRequired<T> extends true
      ? { [K in Name]: T }
      : { [K in Name]?: T };

/** The options of every call, in addition to its parameters and body. */
export interface CallOptions {
  /** Ends the call and its retries. The call then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /**
   * Key that makes a POST safe to repeat for 24 hours. If it is absent, the client creates a key for each POST, except
   * for routes below `/v1/auth/`. The API stores no answers of these routes or of other methods, so such requests
   * contain no key. Set the key yourself to repeat the call after your own process has restarted.
   */
  idempotencyKey?: string | undefined;
  /** Additional headers, such as `service-estimate-token`. */
  headers?: Readonly<Record<string, string>>;
}

/** The options of a call: parameters of the path, parameters of the query, body. */
export type OptionsOf<M extends Method, P extends PathsOf<M>> = Part<'path', PathOf<Operation<M, P>>> &
  Part<'query', QueryOf<Operation<M, P>>> &
  Part<'body', BodyOf<Operation<M, P>>> &
  CallOptions;

/** The argument is optional if none of its options is required. */
export type OptionalArgument<T> = Record<never, never> extends T ? [options?: T] : [options: T];

type Success = 200 | 201 | 202;
type Responses<O> = O extends { responses: infer Found } ? Found : never;
type ContentOf<R> = {
  [S in keyof R & Success]: R[S] extends { content: infer Content } ? Content[keyof Content] : undefined;
}[keyof R & Success];

/** The body of a successful response; undefined for 204. */
export type AnswerOf<M extends Method, P extends PathsOf<M>> = [
  keyof Responses<Operation<M, P>> & Success,
] extends [never]
  ? undefined
  : ContentOf<Responses<Operation<M, P>>>;

/** The keys that hold the rows of a page. */
export const LIST_KEYS = ['data', 'watches', 'activity', 'comments'] as const;

/** Checks for `never` first, because `keyof never` contains every key. */
type Has<T, Key extends string> = [T] extends [never] ? false : Key extends keyof T ? true : false;

/** The paths whose answer is a page of a list: they have the parameter `cursor`. */
export type ListPath = {
  [P in PathsOf<'get'>]: Has<QueryOf<Operation<'get', P>>, 'cursor'> extends true ? P : never;
}[PathsOf<'get'>];

/** One row of a list. */
export type RowOf<P extends ListPath> =
  AnswerOf<'get', P> extends infer Page
    ? Page extends Record<string, unknown>
      ? Page[keyof Page & (typeof LIST_KEYS)[number]] extends readonly (infer Row)[] | undefined
        ? Row
        : never
      : never
    : never;
