import { Running } from './running.js';

it('Running counts the pieces of work that run for each key', () => {
  const running = new Running();
  const ends = [running.begin('a'), running.begin('a'), running.begin('b')];
  expect(['a', 'b', 'c'].map((key) => running.of(key))).toEqual([2, 1, 0]);
  ends[0]?.();
  expect(['a', 'b', 'c'].map((key) => running.of(key))).toEqual([1, 1, 0]);
  ends[1]?.();
  ends[2]?.();
  expect(['a', 'b', 'c'].map((key) => running.of(key))).toEqual([0, 0, 0]);
});
