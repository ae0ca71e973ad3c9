import { useSearchParams } from 'react-router';

/**
 * Uses a parameter of the address as a state, such as a filter. A change keeps the other parameters and adds no entry
 * to the history.
 * @returns the value (null if the parameter is missing) and a setter. An empty value removes the parameter.
 */
export function useAddressParam(key: string): [string | null, (value: string | null) => void] {
  const [params, setParams] = useSearchParams();
  const set = (value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(key, value);
        else next.delete(key);
        return next;
      },
      { replace: true },
    );
  return [params.get(key), set];
}
