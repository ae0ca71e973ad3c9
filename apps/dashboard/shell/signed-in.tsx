import { Center, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Navigate, useLocation } from 'react-router';
import { sessionOptions } from '../api/auth.js';
import { EarshotError } from '../api/client.js';
import { useSessionState } from '../api/session.js';
import { Problem } from '../parts/problem.js';
import { Shell } from './shell.js';

const SessionEnded = lazy(() => import('./session-ended.js'));

/** Reads the session once. Without a session, opens the sign-in page, which returns to the same address afterwards. */
export function SignedIn() {
  const { session, hasEnded, replacedBy } = useSessionState();
  const { pathname, search, hash } = useLocation();
  const { error, refetch } = useQuery({ ...sessionOptions, enabled: session === undefined });
  if (session)
    return (
      <>
        <Shell />
        <Suspense>
          {hasEnded && <SessionEnded email={session.member.email} replacedBy={replacedBy} />}
        </Suspense>
      </>
    );
  if (error instanceof EarshotError && error.status === 401)
    return <Navigate to={`/sign-in?${new URLSearchParams({ to: pathname + search + hash })}`} replace />;
  return (
    <Center mih="100vh" p="md">
      {error ? <Problem error={error} retry={() => void refetch()} /> : <Loader aria-label="Loading" />}
    </Center>
  );
}
