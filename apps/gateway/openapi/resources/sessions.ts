import { MEMBER_ROLES, PLANS } from '#contracts';
import type { Route } from '../operation.js';
import { inPath } from '../parameters.js';
import {
  BOOLEAN,
  described,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  nullable,
  object,
  oneOf,
  ref,
  TEXT,
  type Schema,
} from '../schema.js';

const TAG = 'Sessions';
/** Refusals of routes that people use before they have signed in. */
const BEFORE_SIGN_IN = [400, 403, 413, 415, 429, 503];

export const sessionSchemas: Readonly<Record<string, Schema>> = {
  Session: object({
    account: object({
      id: ID,
      name: nullable(TEXT),
      plan: oneOf(PLANS),
      timezone: described('IANA name of the time zone', TEXT),
    }),
    member: object({ id: ID, email: TEXT, role: oneOf(MEMBER_ROLES) }),
    csrfToken: described('Value for the header `x-csrf-token` of every write with this session', TEXT),
  }),
  SignedInBrowser: object({
    id: ID,
    createdAt: INSTANT,
    lastSeenAt: described('Time of the last request; this time can be up to a minute too early', INSTANT),
    expiresAt: described('30 days after the last request, but at most 90 days after the sign-in', INSTANT),
    userAgent: TEXT,
    networkAddress: TEXT,
    current: described('True if this request uses the session', BOOLEAN),
  }),
  SignUpOptions: object({
    signUp: described(
      'The setting `SIGN_UP`: `off`: nobody can sign up; `invite`: the first account, and then invited people; `open`: everybody who confirms an address',
      oneOf(['off', 'invite', 'open']),
    ),
    isFirst: described(
      'True if there is no account yet: signing up then needs the code that `npm start` printed',
      BOOLEAN,
    ),
    hasMail: described('Whether a forgotten password can be reset by mail', BOOLEAN),
    passwordLength: object({ min: INTEGER, max: INTEGER }),
    planChanges: described('`PLAN_CHANGES`: who can change the plan and add packs', oneOf(['owner', 'cli'])),
  }),
};

export const sessionRoutes: readonly Route[] = [
  {
    method: 'get',
    tag: TAG,
    path: '/v1/auth/options',
    operationId: 'getSignUpOptions',
    summary: 'Get the rules for signing up, and whether an account exists',
    description: 'For the sign-in page. Needs neither a session nor a key.',
    answer: ref('SignUpOptions'),
    refusals: [503],
    open: true,
  },
  {
    method: 'post',
    tag: TAG,
    path: '/v1/auth/sign-up',
    operationId: 'signUp',
    summary: 'Sign up with a code, or get a code by mail',
    description:
      'With the code of the first account, of an invitation or of a mail, returns 201 with a session, and sets its cookie. Without a code, with `SIGN_UP=open`, returns 202 for any address, and sends a mail with a link. If the address belongs to a member: returns 409 with a code, and the same 202 without a code. Returns 403 with `SIGN_UP=off`. The limits for 15 minutes are 3 requests for a mail to the same address, 10 failed codes for the same address, and 60 requests or 60 failed codes from one network. Above a limit, returns 429.',
    body: ref('SignUp'),
    example: { email: 'ada@example.org', password: 'four words in a row', code: '7K3M-Q9TD' },
    status: 201,
    answer: ref('Session'),
    alsoAnswers: { 202: object({ message: TEXT }) },
    refusals: [...BEFORE_SIGN_IN, 409],
    open: true,
  },
  {
    method: 'post',
    tag: TAG,
    path: '/v1/auth/sign-in',
    operationId: 'signIn',
    summary: 'Sign in. The answer sets the cookie of a new session',
    description:
      'Returns the same 401 for an unknown address and for a wrong password. Returns 429 after 10 failures for an address, or 60 failures from a network, in 15 minutes.',
    body: ref('SignIn'),
    example: { email: 'ada@example.org', password: 'four words in a row' },
    answer: ref('Session'),
    refusals: [...BEFORE_SIGN_IN, 401],
    open: true,
  },
  {
    method: 'post',
    tag: TAG,
    path: '/v1/auth/sign-out',
    operationId: 'signOut',
    summary: 'End this session',
    description: 'Deletes the session and its cookie.',
    status: 204,
    needsSession: true,
  },
  {
    method: 'get',
    tag: TAG,
    path: '/v1/auth/session',
    operationId: 'getSession',
    summary:
      'Get the member who has signed in, the account and the `csrfToken`. Returns 401 without a session',
    description: 'Writes with a session need `csrfToken` in the header `x-csrf-token`.',
    answer: ref('Session'),
    needsSession: true,
  },
  {
    method: 'post',
    tag: TAG,
    path: '/v1/auth/password',
    operationId: 'changePassword',
    summary: 'Change the password. All other sessions of the member end',
    description:
      'Needs the present password; a wrong one counts as a failed sign-in. A password has 10 to 200 characters; common passwords are refused.',
    body: ref('PasswordChange'),
    example: { current_password: 'four words in a row', new_password: 'other words in a row' },
    status: 204,
    needsSession: true,
  },
  {
    method: 'post',
    tag: TAG,
    path: '/v1/auth/password/reset',
    operationId: 'askForPasswordReset',
    summary: 'Ask for a link to reset a forgotten password. Returns 202 for any address',
    description:
      'Without a mail server, `command` is the command with which the operator gets the link; otherwise it is null. Returns 429 after 3 requests for a mail to the same address, or 60 from one network, in 15 minutes.',
    body: ref('PasswordReset'),
    example: { email: 'ada@example.org' },
    status: 202,
    answer: object({ message: TEXT, command: nullable(TEXT) }),
    refusals: BEFORE_SIGN_IN,
    open: true,
  },
  {
    method: 'post',
    tag: TAG,
    path: '/v1/auth/password/reset/confirm',
    operationId: 'resetPassword',
    summary: 'Choose a new password with the token of the link. All sessions of the member end',
    description:
      '10 to 200 characters; common passwords are refused. A token is valid for one hour, and can be used only once.',
    body: ref('PasswordResetConfirm'),
    example: { token: 'Zk3…', new_password: 'other words in a row' },
    status: 204,
    refusals: BEFORE_SIGN_IN,
    open: true,
  },
  {
    method: 'get',
    tag: TAG,
    path: '/v1/auth/sessions',
    operationId: 'listSessions',
    summary: 'List the browsers in which you have signed in, the last used first',
    description: 'The session of this request is marked.',
    answer: object({ data: listOf(ref('SignedInBrowser')) }),
    needsSession: true,
  },
  {
    method: 'delete',
    tag: TAG,
    path: '/v1/auth/sessions/{id}',
    operationId: 'endSession',
    summary: 'End one of your sessions',
    description: 'The browser of that session must sign in again.',
    parameters: [inPath('id', 'The session')],
    status: 204,
    needsSession: true,
  },
];
